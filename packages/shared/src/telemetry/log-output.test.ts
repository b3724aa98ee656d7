import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../testing/eventually.ts';
import { LogOutput } from './log-output.ts';

const MIB = 1024 * 1024;
let folder: string;
let descriptors: number[];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gateway-log-'));
  descriptors = [];
});

afterEach(() => {
  for (const fd of descriptors) closeSync(fd);
  rmSync(folder, { recursive: true });
});

function open(file: string, flags: string | number): number {
  const fd = openSync(file, flags);
  descriptors.push(fd);
  return fd;
}

describe('lines on their way to a file', () => {
  const line = (index: number) => `${index} ${'é€😀 '.repeat(index % 90)}\n`;

  it('are written whole and in order, longer than a block or not', async () => {
    const file = path.join(folder, 'log');
    const output = new LogOutput(open(file, 'a'));
    let expected = '';
    for (let round = 0; round < 3; round += 1) {
      const long = `${'ü'.repeat(50_000)}\n`;
      const lines = [...Array.from({ length: 2000 }, (_none, index) => line(index)), long, 'end\n'];
      for (const one of lines) output.write(one);
      expected += lines.join('');
      await eventually(() => {
        expect(readFileSync(file, 'utf8') === expected).toBe(true);
      });
    }
    expect([output.failedWrites, output.droppedLines]).toEqual([0, 0]);
  });

  it('are written at once by a flush, those of before as well', () => {
    const file = path.join(folder, 'log');
    const output = new LogOutput(open(file, 'a'));
    const lines = Array.from({ length: 20 }, (_none, index) => line(index));
    for (const one of lines) output.write(one);
    output.flush();
    expect(readFileSync(file, 'utf8')).toBe(lines.join(''));
    output.flush();
    expect(readFileSync(file, 'utf8')).toBe(lines.join(''));
  });
});

describe('lines whose reader takes none', () => {
  it('wait up to a bound; what is dropped past it is counted', async () => {
    const fifo = path.join(folder, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const fd = open(fifo, constants.O_RDWR | constants.O_NONBLOCK);
    const output = new LogOutput(fd);
    const lines = Array.from({ length: 200 }, (_none, index) => `${index} `.padEnd(99_999, 'x'));
    for (const one of lines) output.write(`${one}\n`);
    const kept = lines.length - output.droppedLines;
    expect(kept * 100_000).toBeGreaterThan(16 * MIB);
    expect(kept * 100_000).toBeLessThan(16 * MIB + 200_000);

    let bytes = Buffer.alloc(0);
    await eventually(() => {
      bytes = Buffer.concat([bytes, ...readAll(fd)]);
      expect(bytes.length).toBeGreaterThan(500_000);
    });
    const read = bytes.toString().split('\n').slice(0, -1);
    expect(read).toEqual(lines.slice(0, read.length));
    // There is room again.
    output.write('one more\n');
    expect(output.droppedLines).toBe(lines.length - kept);
  });
});

/** What a descriptor gives that does not wait. */
function readAll(fd: number): Buffer[] {
  const parts: Buffer[] = [];
  for (;;) {
    const part = Buffer.alloc(MIB);
    try {
      const count = readSync(fd, part);
      if (count === 0) return parts;
      parts.push(part.subarray(0, count));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return parts;
      throw error;
    }
  }
}
