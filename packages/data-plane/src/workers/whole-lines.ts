import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** Where whole lines go. It limits its memory itself. */
export interface LineTarget {
  write(lines: string): void;
}

/** Passes on the output of a process in whole lines, so that lines of several processes do not mix. */
export function passWholeLines(from: Readable, to: LineTarget): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  from.on('data', (bytes: Buffer) => {
    const text = rest + decoder.write(bytes);
    const end = text.lastIndexOf('\n') + 1;
    rest = text.slice(end);
    if (end > 0) to.write(text.slice(0, end));
  });
  // A process that was killed may leave an incomplete line.
  from.once('end', () => {
    if (rest !== '') to.write(`${rest}\n`);
  });
}
