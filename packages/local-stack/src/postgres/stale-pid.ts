import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '@gateway/tools/process/errors';
import { isProcessOf, stopProcess } from '../process/foreign-process.ts';

/**
 * Removes the postmaster.pid that a killed server left. Postgres refuses to start while the pid in it belongs to any running
 * process, even an unrelated one that was given the pid later. If the process is a Postgres on this folder, whose
 * owner was killed, it is stopped first.
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
