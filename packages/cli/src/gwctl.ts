import { runProgram } from './run-program.ts';
import { systemTerminal } from './terminal/terminal.ts';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of a pipe, such as head, has read enough.
  if (error.code === 'EPIPE') process.exit();
  throw error;
});
process.exitCode = await runProgram(process.argv.slice(2), systemTerminal());
