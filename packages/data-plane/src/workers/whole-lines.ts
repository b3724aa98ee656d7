import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** Where whole lines go; it has a bound of its own. */
export interface LineTarget {
  write(lines: string): void;
}

/**
 * Passes on what a process writes, in whole lines, so that the lines of several processes do not run
 * into each other where they go to one place.
 */
export function passWholeLines(from: Readable, to: LineTarget): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  from.on('data', (bytes: Buffer) => {
    const text = rest + decoder.write(bytes);
    const end = text.lastIndexOf('\n') + 1;
    rest = text.slice(end);
    if (end > 0) to.write(text.slice(0, end));
  });
  // A process that was killed may leave a line without its end.
  from.once('end', () => {
    if (rest !== '') to.write(`${rest}\n`);
  });
}
