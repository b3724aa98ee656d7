import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sealSnapshot } from '@gateway/shared/snapshot/signed-snapshot';
import { sealLogEntry } from '@gateway/shared/snapshot/signed-log-entry';
import { openLastGood } from './last-good.ts';
import { captureLog } from '../../test/captured-log.ts';
import { deltaOf, newKey, snapshotOf } from '@gateway/shared/test/config-publisher';

const key = newKey();
const ENVIRONMENT = 'production';
let dir: string;

beforeEach(async () => void (dir = await mkdtemp(path.join(tmpdir(), 'last-good-deltas-'))));
afterEach(() => rm(dir, { recursive: true }));

function open() {
  const { log, lines } = captureLog();
  const store = openLastGood(dir, [key], log);
  const kept = store.of(ENVIRONMENT);
  return {
    store,
    lines,
    isLong: () => store.of(ENVIRONMENT).isLong(),
    snapshot: async (version: number) => {
      const { pointer, bytes } = await sealSnapshot(snapshotOf(ENVIRONMENT, version), 'o', [key]);
      await kept.snapshot(JSON.stringify(pointer), bytes, version);
    },
    delta: (from: number) => kept.delta(sealed(from), from + 1),
  };
}

const sealed = (from: number) => sealLogEntry(deltaOf(ENVIRONMENT, from), [key]);

/** The versions that a restart finds: of the snapshot, then of what came behind it. */
async function found(): Promise<{ versions: number[]; lines: number }> {
  const { store, lines } = open();
  const [one] = await store.load();
  const versions = one === undefined ? [] : [one.pointer.version];
  for (const { entry } of one?.deltas ?? []) versions.push(entry.version);
  return { versions, lines: lines.length };
}

const deltaFiles = async () => (await readdir(dir)).filter((name) => name.endsWith('.deltas'));

describe('the last-good deltas', () => {
  it('are served after a restart, after their snapshot and in order', async () => {
    const first = open();
    await first.snapshot(1);
    await Promise.all([1, 2, 3].map((from) => first.delta(from)));
    await first.delta(4);
    const second = open();
    await second.store.load();
    await second.delta(5);
    expect(await found()).toEqual({ versions: [1, 2, 3, 4, 5, 6], lines: 0 });
  });

  it('are read up to the last complete one after a crash during a write', async () => {
    const { snapshot, delta } = open();
    await snapshot(1);
    for (const from of [1, 2]) await delta(from);
    const [name = ''] = await deltaFiles();
    const whole = await readFile(path.join(dir, name));
    const firstEnd = whole.length - sealed(2).length;
    for (let length = 0; length < whole.length; length += 1) {
      await writeFile(path.join(dir, name), whole.subarray(0, length));
      const { versions } = await found();
      expect([[1], [1, 2]]).toContainEqual(versions);
      if (length >= firstEnd) expect(versions).toEqual([1, 2]);
    }
  });

  it('are skipped from the first altered one, with one log line', async () => {
    const { snapshot, delta } = open();
    await snapshot(1);
    for (const from of [1, 2, 3]) await delta(from);
    const [name = ''] = await deltaFiles();
    const text = await readFile(path.join(dir, name), 'latin1');
    const forged = text.replace('"from":2', '"from":7');
    await writeFile(path.join(dir, name), forged, 'latin1');
    expect(await found()).toEqual({ versions: [1, 2], lines: 1 });
  });

  it('are removed if a snapshot holds them, and stay otherwise', async () => {
    const { snapshot, delta } = open();
    await snapshot(1);
    for (const from of [1, 2, 3, 4]) await delta(from);
    await snapshot(3);
    await delta(5);
    expect((await found()).versions.slice(-3)).toEqual([4, 5, 6]);
    await snapshot(6);
    expect(await found()).toEqual({ versions: [6], lines: 0 });
    expect(await deltaFiles()).toEqual([]);
  });

  it('should be replaced once they are long, or one could not be written', async () => {
    const { snapshot, delta, isLong } = open();
    await snapshot(1);
    expect(isLong()).toBe(false);
    const count = Math.ceil((256 * 1024) / sealed(1).length) + 1;
    await Promise.all(Array.from({ length: count }, (_, at) => delta(at + 1)));
    expect(isLong()).toBe(true);
    await snapshot(count + 1);
    expect(isLong()).toBe(false);
    await mkdir(path.join(dir, `${ENVIRONMENT}.${count + 2}.deltas`));
    await expect(delta(count + 1)).rejects.toThrow();
    expect(isLong()).toBe(true);
    await rm(path.join(dir, `${ENVIRONMENT}.${count + 2}.deltas`), { recursive: true });
    await delta(count + 2);
    await snapshot(count + 3);
    expect(isLong()).toBe(false);
    expect((await found()).versions).toEqual([count + 3]);
  });
});
