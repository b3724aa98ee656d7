import type { Terminal } from './terminal/terminal.ts';
import { describeError } from './program/describe-error.ts';
import { EXIT, type ExitCode } from './program/exit-codes.ts';
import { createProgram } from './program.ts';
import { createCli } from './session.ts';

/** Runs a command line, such as `['services', 'list']`. Errors go to stderr. */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  try {
    await createProgram(createCli(terminal)).parseAsync(args, { from: 'user' });
    return EXIT.done;
  } catch (error) {
    const { text, exitCode } = describeError(error);
    if (text !== '') terminal.error(text);
    return exitCode;
  }
}
