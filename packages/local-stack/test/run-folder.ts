import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isRunning } from '../src/process/foreign-process.ts';

const prefix = 'gateway-test-';

/**
 * Creates a folder for the data of this run. Its name contains the pid of this process, so that a later run can remove the folders of
 * runs that were killed.
 */
export async function makeRunFolder(): Promise<string> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(/^gateway-test-(\d+)-/.exec(name)?.[1] ?? process.pid);
    if (pid === process.pid || isRunning(pid)) continue;
    await rm(path.join(tmpdir(), name), { recursive: true, force: true });
  }
  const folder = await mkdtemp(path.join(tmpdir(), `${prefix}${process.pid}-`));
  // Postgres may run under another account, which must be able to enter.
  await chmod(folder, 0o711);
  // Temporary files of tests that were killed are removed with the run.
  const temporary = path.join(folder, 'tmp');
  await mkdir(temporary);
  await chmod(temporary, 0o1777);
  process.env['TMPDIR'] = temporary;
  return folder;
}
