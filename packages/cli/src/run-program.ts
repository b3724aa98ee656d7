import type { Terminal } from './terminal/terminal.ts';
import { normalised } from './program/command-words.ts';
import { describeError, type ErrorReport } from './program/describe-error.ts';
import { EXIT, type ExitCode } from './program/exit-codes.ts';
import { programFor } from './program.ts';
import { createCli, type Cli } from './session.ts';

/** Runs a command line, such as `['services', 'list']`. Errors go to stderr. */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let watched: ExitCode | undefined;
  const { exitCode } = await run(args, createCli(terminal, { watch }));
  return watched ?? exitCode;

  async function watch(): Promise<void> {
    const { watch: show } = await import('./terminal/watch.ts');
    watched = await show(terminal, ['gwctl', ...args].join(' '), (frame, signal) =>
      run(args, createCli(frame, { signal })),
    );
  }
}

/** How a run ended, and when the same one may succeed. */
async function run(args: readonly string[], cli: Cli): Promise<Omit<ErrorReport, 'text'>> {
  const { terminal } = cli;
  try {
    const program = await programFor(cli, args);
    await program.parseAsync(normalised(program, args), { from: 'user' });
    return { exitCode: EXIT.done };
  } catch (error) {
    const { text, ...end } = describeError(error);
    if (text !== '') terminal.error(text);
    return end;
  }
}
