import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from '@gateway/tools/process/errors';
import { runCommand } from '@gateway/tools/process/run-command';

/** Whether a process with this pid runs, under any account. A zombie, which nobody has waited for, does not run. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) !== 'EPERM') return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    // The state follows the name, which is in parentheses and may contain any character.
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** The command line of a process and, if the system allows it, its environment. */
async function describe(pid: number): Promise<string> {
  if (process.platform !== 'linux') {
    const { output } = await runCommand('ps', ['-Eww', '-o', 'command=', '-p', String(pid)], {
      timeoutMs: 5000,
    });
    return output;
  }
  const parts = await Promise.all(
    ['cmdline', 'environ'].map((part) => readFile(`/proc/${pid}/${part}`, 'utf8').catch(() => '')),
  );
  return parts.join('\0');
}

/**
 * The start time of a process in the format of the system, which together with the pid identifies the process. Empty if
 * there is no such process.
 */
export async function startedAt(pid: number): Promise<string> {
  if (process.platform !== 'linux') {
    const ps = await runCommand('ps', ['-o', 'lstart=', '-p', String(pid)], { timeoutMs: 5000 });
    return ps.output.trim();
  }
  try {
    // proc_pid_stat(5): the start time is field 22; field 2, the name, may contain any character.
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

/**
 * Whether the process was started on this folder: its command line or environment names the folder. The pid alone is not
 * enough, because the system reuses pids.
 */
export async function isProcessOf(pid: number, folder: string): Promise<boolean> {
  if (!isRunning(pid)) return false;
  const [, ...after] = (await describe(pid)).split(folder);
  // The full name of the folder, not the beginning of a longer one.
  return after.some((rest) => /^(?:$|[/\s\0])/.test(rest));
}

/**
 * Stops a process that is not a child of this one: the signal, then SIGKILL after `timeoutMs`. Resolves with whether it has
 * ended.
 */
export async function stopProcess(
  pid: number,
  signal: NodeJS.Signals,
  timeoutMs: number,
): Promise<boolean> {
  for (const [next, limitMs] of [
    [signal, timeoutMs],
    ['SIGKILL', 2000],
  ] as const) {
    const deadline = performance.now() + limitMs;
    try {
      process.kill(pid, next);
    } catch (error) {
      if (errorCode(error) !== 'ESRCH') throw error;
    }
    while (performance.now() < deadline) {
      if (!isRunning(pid)) return true;
      await delay(25);
    }
  }
  return !isRunning(pid);
}
