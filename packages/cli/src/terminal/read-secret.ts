import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { InterruptedError } from '../program/exit-codes.ts';

/** Asks on stderr and reads a line from a terminal. What is typed is not shown. */
export function readSecret(
  question: string,
  input: NodeJS.ReadableStream,
  stderr: NodeJS.WritableStream,
): Promise<string> {
  stderr.write(question);
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output, terminal: true, historySize: 0 });
  return new Promise((resolve, reject) => {
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('SIGINT', () => lines.close());
    // The promise is settled already if a line was read.
    lines.once('close', () => {
      stderr.write('\n');
      reject(new InterruptedError());
    });
  });
}
