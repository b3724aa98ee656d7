import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { buildOnce, isBuilt } from './build-once.ts';

describe('a folder that is built once', () => {
  let root: string;
  let folder: string;
  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'build-once-'));
    folder = path.join(root, 'dist');
  });
  afterEach(() => rm(root, { recursive: true }));

  const build = (digest: string, files: Readonly<Record<string, string>>) =>
    buildOnce({
      folder,
      digest,
      build: async (draft) => {
        for (const [file, text] of Object.entries(files)) {
          const place = path.join(draft, file);
          await mkdir(path.dirname(place), { recursive: true });
          await writeFile(place, text);
        }
      },
    });
  const read = (file: string) => readFile(path.join(folder, file), 'utf8');

  it('is left as it is if its inputs are the same', async () => {
    await build('one', { 'main.mjs': 'first' });
    await build('one', { 'main.mjs': 'second' });
    expect(await read('main.mjs')).toBe('first');
  });

  it('has the files of the newest build and no others', async () => {
    await build('one', { 'main.mjs': 'first', 'assets/old.js': 'old' });
    await build('two', { 'main.mjs': 'second', 'assets/new.js': 'new' });
    expect(await read('main.mjs')).toBe('second');
    expect(await readdir(path.join(folder, 'assets'))).toEqual(['new.js']);
    expect(await isBuilt({ folder, digest: 'two' })).toBe(true);
  });

  it('keeps the last build if a build fails', async () => {
    await build('one', { 'main.mjs': 'first' });
    const failing = { folder, digest: 'two', build: () => Promise.reject(new Error('no memory')) };
    await expect(buildOnce(failing)).rejects.toThrow('no memory');
    expect(await read('main.mjs')).toBe('first');
    expect(await isBuilt({ folder, digest: 'one' })).toBe(true);
  });

  it('is built again after an interruption between its files', async () => {
    await build('one', { 'main.mjs': 'first' });
    // A file cannot be put in the place of a folder.
    await mkdir(path.join(folder, 'second.mjs'));
    const files = { 'main.mjs': 'second', 'second.mjs': 'second' };
    await expect(build('two', files)).rejects.toThrow();
    expect(await isBuilt({ folder, digest: 'one' })).toBe(false);
    await rm(path.join(folder, 'second.mjs'), { recursive: true });
    await build('one', { 'main.mjs': 'first' });
    expect(await read('main.mjs')).toBe('first');
  });

  it('never misses a file while it is built again', async () => {
    const turns = Array.from({ length: 50 }, (_, index) => String(index));
    await build('first', { 'main.mjs': 'first' });
    const builds = { over: false };
    const reads = (async () => {
      let count = 0;
      for (; !builds.over; count += 1) await read('main.mjs');
      return count;
    })();
    for (const turn of turns) await build(turn, { 'main.mjs': turn });
    builds.over = true;
    expect(await reads).toBeGreaterThan(turns.length);
  });
});
