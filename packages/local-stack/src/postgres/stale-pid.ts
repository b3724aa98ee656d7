import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '../process/error-code.ts';
import { isProcessOf, stopProcess } from '../process/foreign-process.ts';

/**
 * Clears the way after a server that was killed. Postgres refuses to start while the pid in its
 * postmaster.pid belongs to any live process, even to one that was given the number since; and a
 * server whose owner was killed may still run. Ours is stopped, a stranger's number is forgotten.
 */
export async function clearStalePid(clusterFolder: string): Promise<void> {
  const file = path.join(clusterFolder, 'postmaster.pid');
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  const pid = Number.parseInt(text, 10);
  if (Number.isSafeInteger(pid) && pid > 1 && (await isProcessOf(pid, clusterFolder))) {
    await stopProcess(pid, 'SIGINT', 10_000);
  }
  await rm(file, { force: true });
}
