import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { eventually } from './eventually.ts';

const run = promisify(execFile);

/** Suspends a process until `thaw`. Resolves when all of its threads are stopped. */
export async function freeze(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await eventually(async () => {
    const states = process.platform === 'linux' ? await threadStates(pid) : await state(pid);
    if (!states.every((one) => one.startsWith('T')))
      throw new Error(`the process is still running: ${states.join()}`);
  });
}

/** Resumes a frozen process. */
export function thaw(pid: number): void {
  process.kill(pid, 'SIGCONT');
}

/** proc_pid_stat(5): the state follows the name, which is in parentheses and may contain any character. */
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
