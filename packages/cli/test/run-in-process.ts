import { setTimeout as sleep } from 'node:timers/promises';
import { runProgram } from '../src/run-program.ts';
import type { Terminal } from '../src/terminal/terminal.ts';
import { fakeTerminal } from './fake-terminal.ts';

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line in this process. `stdin` is what the command reads. */
export async function runInProcess(
  args: readonly string[],
  { stdin = '', ...fields }: Partial<Terminal> & { readonly stdin?: string } = {},
): Promise<Ran> {
  const written = { stdout: '', stderr: '' };
  const terminal = fakeTerminal({
    out: (text) => void (written.stdout += text),
    error: (text) => void (written.stderr += text),
    pause: (delayMs, signal) => sleep(delayMs, undefined, { signal }),
    readInput: () => Promise.resolve(stdin),
    ...fields,
  });
  const code = await runProgram(args, terminal);
  return { code, ...written };
}
