import type { Terminal } from './terminal/terminal.ts';
import { normalised } from './program/command-words.ts';
import { describeError } from './program/describe-error.ts';
import { EXIT, type ExitCode } from './program/exit-codes.ts';
import { programFor } from './program.ts';
import { createCli } from './session.ts';

/** Runs a command line, such as `['services', 'list']`. Errors go to stderr. */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  try {
    const program = await programFor(createCli(terminal), args);
    await program.parseAsync(normalised(program, args), { from: 'user' });
    return EXIT.done;
  } catch (error) {
    const { text, exitCode } = describeError(error);
    if (text !== '') terminal.error(text);
    return exitCode;
  }
}
