import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { appendEntries, readEntries } from './last-good-environment.ts';

const entries = ['first', 'a\nsecond\n', 'third'].map((text) => Buffer.from(text));
let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'deltas-'));
  file = path.join(folder, 'production.1.deltas');
});

afterEach(() => rm(folder, { recursive: true }));

/** What is read of a file, and why no more. */
function read(content: Buffer): { texts: string[]; why: string | undefined } {
  const texts: string[] = [];
  try {
    for (const entry of readEntries(content)) texts.push(Buffer.from(entry).toString());
    return { texts, why: undefined };
  } catch (error) {
    return { texts, why: error instanceof Error ? error.message : undefined };
  }
}

describe('the deltas on disk', () => {
  it('are read in the order of their writes', async () => {
    await appendEntries(file, entries.slice(0, 1));
    await appendEntries(file, entries.slice(1));
    const { texts, why } = read(await readFile(file));
    expect(texts).toEqual(entries.map(String));
    expect(why).toBeUndefined();
  });

  it('are read up to the last complete one of a truncated file, and the rest is reported', async () => {
    await appendEntries(file, entries);
    const whole = await readFile(file);
    // Between two changes nothing tells that there were more.
    const clean = new Set([17, 17 + 8, 17 + 8 + 12]);
    for (let length = 0; length < whole.length; length += 1) {
      const { texts, why } = read(whole.subarray(0, length));
      expect(texts).toEqual(entries.slice(0, texts.length).map(String));
      expect([length, why === undefined]).toEqual([length, clean.has(length)]);
    }
  });

  it('of an unknown format are not read, and that is reported', async () => {
    await appendEntries(file, entries);
    const newer = (await readFile(file, 'latin1')).replace('deltas 1', 'deltas 2');
    const why = 'unknown format 2; this version reads format 1';
    expect(read(Buffer.from(newer, 'latin1'))).toEqual({ texts: [], why });
  });
});
