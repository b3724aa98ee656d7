import { readFileSync } from 'node:fs';
import { StartError } from '@gateway/tools/process/errors';
import { runCommand } from '@gateway/tools/process/run-command';

/** The measured proxy has one core to itself; everything else shares the others. */
export interface Cores {
  readonly measured: number;
  /** In the form that `taskset -c` takes. */
  readonly load: string;
  readonly all: readonly number[];
}

/**
 * Reserves the last core that this process may use for the measured proxy.
 *
 * @throws {StartError} if there is only one core
 */
export function splitCores(allowed: readonly number[] = allowedCores()): Cores {
  const measured = allowed.at(-1);
  if (measured === undefined || allowed.length < 2) {
    throw new StartError('the bench needs two cores: one for the proxy, one for load and upstream');
  }
  return { measured, load: allowed.slice(0, -1).join(','), all: allowed };
}

function allowedCores(): number[] {
  const status = readFileSync('/proc/self/status', 'utf8');
  return parseCoreList(/^Cpus_allowed_list:\s*(.+)$/m.exec(status)?.[1] ?? '');
}

/** Parses the kernel's list format: `0-2,5` is 0, 1, 2 and 5. */
export function parseCoreList(text: string): number[] {
  return text.split(',').flatMap((part) => {
    const [from = NaN, to = from] = part.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

/** The command prefix that keeps a command, and everything it starts, on these cores. */
export function pinned(cores: number | string): readonly string[] {
  return ['taskset', '-c', String(cores)];
}

/** Moves this process to these cores. Processes that it starts afterwards inherit them. */
export async function pinSelf(cores: string): Promise<void> {
  const args = ['-a', '-c', '-p', cores, String(process.pid)];
  const { code, output } = await runCommand('taskset', args, { timeoutMs: 5_000 });
  if (code !== 0) throw new StartError(`taskset failed: ${output.trim()}`);
}
