import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from './error-code.ts';
import { runCommand } from './run-command.ts';

/**
 * Whether a process of that pid runs, whoever it belongs to. One that has ended and that nobody
 * has waited for, as happens below an init that does not, is not running.
 */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) !== 'EPERM') return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    // The state follows the name, which is in parentheses and may hold anything.
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** A process's command line and, where the system shows it to us, its environment. */
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
 * When a process began, in the system's own terms: together with its pid it names one process for
 * good. Empty when there is none.
 */
export async function startedAt(pid: number): Promise<string> {
  if (process.platform !== 'linux') {
    const ps = await runCommand('ps', ['-o', 'lstart=', '-p', String(pid)], { timeoutMs: 5000 });
    return ps.output.trim();
  }
  try {
    // proc_pid_stat(5): field 22, where the name, which may hold anything, is field 2.
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

/**
 * Whether the process is one that was started on this folder: its command line or its environment
 * names it. A pid alone proves nothing, since the system gives it to another after its end.
 */
export async function isProcessOf(pid: number, folder: string): Promise<boolean> {
  if (!isRunning(pid)) return false;
  const [, ...after] = (await describe(pid)).split(folder);
  // The whole name of the folder, not the beginning of another's.
  return after.some((rest) => /^(?:$|[/\s\0])/.test(rest));
}

/**
 * Asks a process that is not our child to stop; SIGKILL after the time given. Resolves with whether
 * it has ended.
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
