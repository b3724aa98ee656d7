import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventually } from '@gateway/shared/test/eventually';
import { passWholeLines } from './whole-lines.ts';

class Target {
  readonly written: string[] = [];
  write(lines: string): void {
    this.written.push(lines);
  }
}

describe('passing on the lines of a process', () => {
  it('writes whole lines, wherever the chunks are cut', async () => {
    const lines = fc.array(fc.string({ unit: 'grapheme' }).map((s) => s.replaceAll('\n', ' ')));
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 1, max: 7 }), async (all, cutBytes) => {
        const from = new PassThrough();
        const target = new Target();
        passWholeLines(from, target);
        const bytes = Buffer.from(all.map((line) => `${line}\n`).join(''));
        for (let at = 0; at < bytes.length; at += cutBytes) {
          from.write(bytes.subarray(at, at + cutBytes));
        }
        from.end();
        await eventually(() => expect(target.written.join('')).toBe(bytes.toString()));
        expect(target.written.every((text) => text.endsWith('\n'))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('completes the last line of a process that was killed', async () => {
    const from = new PassThrough();
    const target = new Target();
    passWholeLines(from, target);
    from.end('whole\nha');
    await eventually(() => expect(target.written.join('')).toBe('whole\nha\n'));
  });
});
