import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { eventually } from './eventually.ts';

const run = promisify(execFile);

/** Stops a process until `thaw`, and returns once each of its threads stands still. */
export async function freeze(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await eventually(async () => {
    const states = process.platform === 'linux' ? await threadStates(pid) : await state(pid);
    if (!states.every((one) => one.startsWith('T'))) throw new Error(`it runs: ${states.join()}`);
  });
}

/** Lets a frozen process go on. */
export function thaw(pid: number): void {
  process.kill(pid, 'SIGCONT');
}

/** proc_pid_stat(5): the state stands behind the name, which is in brackets and may hold anything. */
async function threadStates(pid: number): Promise<readonly string[]> {
  const folder = `/proc/${pid}/task`;
  const threads = await readdir(folder);
  const texts = await Promise.all(threads.map((id) => readFile(`${folder}/${id}/stat`, 'utf8')));
  return texts.map((text) => text.slice(text.lastIndexOf(')') + 2));
}

async function state(pid: number): Promise<readonly string[]> {
  const { stdout } = await run('ps', ['-o', 'stat=', '-p', String(pid)]);
  return [stdout.trim()];
}
