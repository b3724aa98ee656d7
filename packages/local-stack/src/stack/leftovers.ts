import { isProcessOf, stopProcess } from '../process/foreign-process.ts';
import { StartError } from '@gateway/tools/process/errors';
import { readProcesses, writeProcesses } from './processes-file.ts';

const stopTimeoutMs = 5000;

/**
 * Stops the processes that a killed stack left running on this folder, last started first. A process is stopped only if its
 * command line or environment names the folder, because a pid may meanwhile belong to another process.
 *
 * @throws {StartError} if a process does not stop
 */
export async function stopLeftovers(dataDir: string, log: (line: string) => void): Promise<void> {
  for (const { name, pid } of (await readProcesses(dataDir)).reverse()) {
    if (pid <= 1 || !(await isProcessOf(pid, dataDir))) continue;
    log(`Stopping ${name} (pid ${pid}) of a stack that was killed ...`);
    // SIGINT is a fast shutdown for Postgres and an orderly stop for the others.
    if (await stopProcess(pid, 'SIGINT', stopTimeoutMs)) continue;
    throw new StartError(`${name} (pid ${pid}) of the previous run does not stop; kill it`);
  }
  await writeProcesses(dataDir, []);
}
