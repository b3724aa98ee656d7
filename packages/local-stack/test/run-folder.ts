import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isRunning } from '../src/process/foreign-process.ts';

const prefix = 'gateway-test-';

/**
 * A folder for the data of this run, named after our pid so that a later run knows when it is
 * nobody's any more. Runs that were killed leave theirs; those are removed here.
 */
export async function makeRunFolder(): Promise<string> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(/^gateway-test-(\d+)-/.exec(name)?.[1] ?? process.pid);
    if (pid === process.pid || isRunning(pid)) continue;
    await rm(path.join(tmpdir(), name), { recursive: true, force: true });
  }
  const folder = await mkdtemp(path.join(tmpdir(), `${prefix}${process.pid}-`));
  // Postgres may run under another account and has to pass through.
  await chmod(folder, 0o711);
  // What a test that was killed leaves in the temporary folder goes with the run too.
  const temporary = path.join(folder, 'tmp');
  await mkdir(temporary);
  await chmod(temporary, 0o1777);
  process.env['TMPDIR'] = temporary;
  return folder;
}
