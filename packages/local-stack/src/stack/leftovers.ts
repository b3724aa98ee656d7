import { isProcessOf, stopProcess } from '../process/foreign-process.ts';
import { StartError } from '../process/start-error.ts';
import { readProcesses, writeProcesses } from './processes-file.ts';

const stopTimeoutMs = 5000;

/**
 * Stops what a stack on this folder left running when it was killed, in reverse order. A pid that
 * belongs to somebody else by now is left alone: only a process whose command line or environment
 * names the folder is ours.
 *
 * @throws {StartError} when one does not stop
 */
export async function stopLeftovers(dataDir: string, log: (line: string) => void): Promise<void> {
  for (const { name, pid } of (await readProcesses(dataDir)).reverse()) {
    if (pid <= 1 || !(await isProcessOf(pid, dataDir))) continue;
    log(`Stopping ${name} (pid ${pid}), left by a stack that was killed ...`);
    // SIGINT is a fast shutdown for Postgres and an orderly stop for the others.
    if (await stopProcess(pid, 'SIGINT', stopTimeoutMs)) continue;
    throw new StartError(`${name} (pid ${pid}) of the run before does not stop; end it by hand`);
  }
  await writeProcesses(dataDir, []);
}
