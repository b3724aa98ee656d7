import { createInterface } from 'node:readline';
import { InterruptedError } from '../program/exit-codes.ts';

export interface Streams {
  readonly stdin: NodeJS.ReadableStream;
  readonly stderr: NodeJS.WritableStream;
}

/** Asks a question on stderr. Only `y` and `yes` mean yes. @throws InterruptedError after ^C, and at the end of stdin */
export function confirm(
  question: string,
  { stdin: input, stderr: output }: Streams,
  interrupted?: AbortSignal,
): Promise<boolean> {
  const lines = createInterface({ input, output });
  const close = () => lines.close();
  return new Promise<boolean>((resolve, reject) => {
    lines.question(`${question} [y/N] `, (answer) => {
      resolve(/^y(es)?$/i.test(answer.trim()));
      close();
    });
    lines.once('SIGINT', close);
    interrupted?.addEventListener('abort', close, { once: true });
    // The promise is settled already if there was an answer.
    lines.once('close', () => reject(new InterruptedError()));
  }).finally(() => interrupted?.removeEventListener('abort', close));
}
