import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { runOrThrow } from '@gateway/tools/process/run-command';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { tar, type Entry } from './tar.ts';

const TIME_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tar-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function archive(entries: readonly Entry[]): Promise<string> {
  const file = path.join(folder, 'archive.tar');
  await writeFile(file, tar(entries, TIME_MS));
  return file;
}

const run = (...args: string[]) => runOrThrow('tar', args, { timeoutMs: 20_000 });

it('is read by GNU tar with types, modes, owners and the time', async () => {
  const file = await archive([
    { path: 'data', mode: 0o700, owner: 65_532, isFolder: true },
    { path: 'data/link', mode: 0o777, target: '../usr/bin/node' },
    { path: 'tmp', mode: 0o1777, isFolder: true },
    { path: 'usr/bin/node', mode: 0o755, content: Buffer.from('program') },
  ]);
  const listed = await run('--utc', '--numeric-owner', '--full-time', '-tvf', file);
  expect(
    listed
      .trim()
      .split('\n')
      .map((line) => line.replaceAll(/ +/g, ' ')),
  ).toEqual([
    'drwx------ 65532/65532 0 2026-01-02 03:04:05 data/',
    'lrwxrwxrwx 0/0 0 2026-01-02 03:04:05 data/link -> ../usr/bin/node',
    'drwxrwxrwt 0/0 0 2026-01-02 03:04:05 tmp/',
    '-rwxr-xr-x 0/0 7 2026-01-02 03:04:05 usr/bin/node',
  ]);
});

it('holds what was put into it, whatever the paths and sizes are', async () => {
  const segment = fc.stringMatching(/^[a-z0-9@._-]{1,60}$/).filter((text) => !/^\.+$/.test(text));
  const name = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
  const content = fc.uint8Array({ maxLength: 2000 }).map((bytes) => Buffer.from(bytes));
  const property = fc.asyncProperty(
    fc.uniqueArray(fc.record({ path: name, content }), {
      selector: (one) => one.path,
      maxLength: 4,
    }),
    async (files) => {
      const file = await archive(files.map((one) => ({ ...one, mode: 0o644 })));
      for (const one of files) {
        const extracted = await run('-xf', file, '--to-command=base64 -w0', '--', one.path);
        expect(extracted).toBe(one.content.toString('base64'));
      }
    },
  );
  await fc.assert(property, { numRuns: 15, seed: 106 });
});

it('takes contents that are read piece by piece', async () => {
  const read = () =>
    Readable.from([Buffer.from('one'), Buffer.from('two')]) as AsyncIterable<Buffer>;
  const file = await archive([{ path: 'both', mode: 0o644, content: { size: 6, read } }]);
  expect(await run('-xOf', file, 'both')).toBe('onetwo');
});

it.each([
  ['a name of more than 100 bytes', { path: 'x'.repeat(101) }],
  ['a folder of more than 155 bytes', { path: `${'x'.repeat(156)}/y` }],
  ['a link of more than 100 bytes', { path: 'x', target: 'y'.repeat(101) }],
])('refuses %s, which the format cannot hold', async (_what, entry) => {
  const whole = {
    mode: 0o644,
    ...('target' in entry ? {} : { content: Buffer.alloc(0) }),
    ...entry,
  };
  await expect(archive([whole as Entry])).rejects.toThrow('too long');
});
