import { execFileSync } from 'node:child_process';
import { constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../test/eventually.ts';
import { LogOutput } from './log-output.ts';

const BLOCK_BYTES = 256 * 1024;
const MAX_BYTES = 4 * BLOCK_BYTES;
/** Descriptors are left open: what a failed test left waiting would go to whoever gets the number next. */
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gateway-log-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('lines that are written to a file', () => {
  const line = (index: number) => `${index} ${'é€😀 '.repeat(index % 90)}\n`;

  it('are written completely and in order, also if they are longer than a block', async () => {
    const file = path.join(folder, 'log');
    const output = new LogOutput(openSync(file, 'a'));
    let expected = '';
    for (let round = 0; round < 3; round += 1) {
      const long = `${'ü'.repeat(150_000)}\n`;
      const lines = [...Array.from({ length: 2000 }, (_none, index) => line(index)), long, 'end\n'];
      for (const one of lines) output.write(one);
      expected += lines.join('');
      await eventually(() => {
        expect(readFileSync(file, 'utf8') === expected).toBe(true);
      });
    }
    expect([output.failedWrites, output.droppedLines]).toEqual([0, 0]);
  });

  it('are written at once by a flush, with all earlier ones', () => {
    const file = path.join(folder, 'log');
    const output = new LogOutput(openSync(file, 'a'));
    const lines = Array.from({ length: 20 }, (_none, index) => line(index));
    for (const one of lines) output.write(one);
    output.flush();
    expect(readFileSync(file, 'utf8')).toBe(lines.join(''));
    output.flush();
    expect(readFileSync(file, 'utf8')).toBe(lines.join(''));
  });
});

describe('lines whose reader does not read', () => {
  it('wait up to a limit; further lines are dropped and counted', async () => {
    const fifo = path.join(folder, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const fd = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
    const output = new LogOutput(fd, MAX_BYTES);
    const lines = Array.from({ length: 160 }, (_none, index) => `${index} `.padEnd(9999, 'x'));
    for (const one of lines) output.write(`${one}\n`);
    const kept = lines.length - output.droppedLines;
    expect(kept * 10_000).toBeGreaterThan(MAX_BYTES);
    expect(kept * 10_000).toBeLessThan(MAX_BYTES + BLOCK_BYTES);

    let text = '';
    await eventually(() => {
      text += readAll(fd);
      expect(text.length).toBe(kept * 10_000);
    });
    expect(text.split('\n').slice(0, -1)).toEqual(lines.slice(0, kept));
    // There is room again.
    output.write('one more\n');
    output.flush();
    expect(readAll(fd)).toBe('one more\n');
    expect(output.droppedLines).toBe(lines.length - kept);
  });
});

describe('a flush whose reader stops reading', () => {
  it('keeps the rest waiting; no line is lost, torn or repeated', async () => {
    const fifo = path.join(folder, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const fd = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
    const output = new LogOutput(fd);
    const lines = Array.from({ length: 20 }, (_none, index) => `${index} `.padEnd(9999, 'x'));
    for (const one of lines) output.write(`${one}\n`);
    output.flush();
    output.write('behind them\n');
    let text = '';
    await eventually(() => {
      text += readAll(fd);
      expect(text.endsWith('behind them\n')).toBe(true);
    });
    expect(text).toBe([...lines, 'behind them', ''].join('\n'));
    expect([output.failedWrites, output.droppedLines]).toEqual([0, 0]);
  });
});

/** What a descriptor gives that does not wait. */
function readAll(fd: number): string {
  const part = Buffer.alloc(2 * BLOCK_BYTES);
  let text = '';
  try {
    for (let count = readSync(fd, part); count > 0; count = readSync(fd, part)) {
      text += part.toString('latin1', 0, count);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
  }
  return text;
}
