import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sealSnapshot } from '@gateway/shared/snapshot/signed-snapshot';
import { openLastGood } from './last-good.ts';
import { captureLog } from '../../test/captured-log.ts';
import { newKey, snapshotOf } from '@gateway/shared/test/config-publisher';

const key = newKey();
let folder: string;
let dir: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'last-good-'));
  dir = path.join(folder, 'config');
});

afterEach(() => rm(folder, { recursive: true }));

async function save(environment: string, version: number, keys = [key]): Promise<void> {
  const { pointer, bytes } = await sealSnapshot(snapshotOf(environment, version), 'object', keys);
  const store = openLastGood(dir, keys, captureLog().log);
  await store.of(environment).snapshot(JSON.stringify(pointer), bytes, version);
}

async function load() {
  const { log, lines } = captureLog();
  const found = await openLastGood(dir, [key], log).load();
  return { versions: found.map(({ snapshot }) => [snapshot.environment, snapshot.version]), lines };
}

describe('the last-good configuration', () => {
  it('is served after a restart, the newest of each environment', async () => {
    await save('production', 1);
    await save('production', 2);
    await save('development', 7);
    const { versions, lines } = await load();
    expect(versions.sort()).toEqual([
      ['development', 7],
      ['production', 2],
    ]);
    expect(lines).toEqual([]);
  });

  it('is empty without a log line if the folder is missing', async () => {
    expect(await load()).toEqual({ versions: [], lines: [] });
  });

  it('is readable by its owner alone', async () => {
    await save('production', 1);
    expect((await stat(path.join(dir, 'production.snapshot'))).mode & 0o777).toBe(0o600);
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
  });

  it.each(['../outside', '..', '.hidden', 'a/b=c.d'])(
    'stays in its folder for an environment called %s',
    async (environment) => {
      await save(environment, 3);
      expect(await readdir(folder)).toEqual(['config']);
      expect((await load()).versions).toEqual([[environment, 3]]);
    },
  );

  it('is skipped with one log line if it is truncated anywhere', async () => {
    await save('production', 1);
    const file = path.join(dir, 'production.snapshot');
    const whole = await readFile(file);
    for (let length = 0; length < whole.length; length += 1) {
      await writeFile(file, whole.subarray(0, length));
      const { versions, lines } = await load();
      expect(versions).toEqual([]);
      expect(lines).toHaveLength(1);
    }
  });

  it('is skipped if it has a newer format, a wrong signature, or is not a file', async () => {
    await save('production', 1);
    const whole = await readFile(path.join(dir, 'production.snapshot'), 'latin1');
    const newer = whole.replace('gateway-last-good 1\n', 'gateway-last-good 2\n');
    await writeFile(path.join(dir, 'newer.snapshot'), newer, 'latin1');
    await save('forged', 1, [newKey(key.id)]);
    await mkdir(path.join(dir, 'folder.snapshot'));
    await writeFile(path.join(dir, 'other.snapshot'), whole, 'latin1');
    const { versions, lines } = await load();
    expect(versions).toEqual([['production', 1]]);
    expect(lines.map(({ reason }) => reason).sort()).toEqual([
      expect.stringMatching(/EISDIR/),
      'the pointer belongs to another environment',
      'the signature of the pointer is wrong',
      'unknown format 2; this version reads format 1',
    ]);
  });

  it('ends as the newest if writes are requested faster than they complete', async () => {
    const store = openLastGood(dir, [key], captureLog().log);
    const kept = store.of('production');
    const sealed = await Promise.all(
      [1, 2, 3, 4].map((version) => sealSnapshot(snapshotOf('production', version), 'o', [key])),
    );
    await Promise.all(
      sealed.map(({ pointer, bytes }) =>
        kept.snapshot(JSON.stringify(pointer), bytes, pointer.version),
      ),
    );
    expect((await load()).versions).toEqual([['production', 4]]);
    expect(await readdir(dir)).toEqual(['production.snapshot']);
  });

  it('rejects a failed write, and completes the next one', async () => {
    await writeFile(dir, 'a file where the folder should be');
    const store = openLastGood(dir, [key], captureLog().log);
    const { pointer, bytes } = await sealSnapshot(snapshotOf('production', 5), 'o', [key]);
    const kept = store.of('production');
    await expect(kept.snapshot(JSON.stringify(pointer), bytes, 5)).rejects.toThrow();
    await rm(dir);
    await kept.snapshot(JSON.stringify(pointer), bytes, 5);
    expect((await load()).versions).toEqual([['production', 5]]);
  });
});
