import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { RecordBatch } from './record-batcher.ts';
import { openSpool, type Spool } from './spool.ts';
import { encodeFrame } from './spool-frame.ts';
import { captureLog } from '../../test/captured-log.ts';

const FIRST_LINE = 'gateway-spool 1\n';

let folder: string;
let dir: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'spool-'));
  dir = path.join(folder, 'spool');
});

afterEach(() => rm(folder, { recursive: true }));

function newSpool({ maxBytes = 1_000_000, segmentBytes = 1000 } = {}) {
  const { log, lines } = captureLog();
  return { spool: openSpool({ dir, maxBytes, segmentBytes, log }), lines };
}

function batchOf(number: number, size = 300): RecordBatch {
  return { id: `batch-${number}`, body: Buffer.alloc(size, number), records: number };
}

async function takeAll(spool: Spool): Promise<RecordBatch[]> {
  const batches: RecordBatch[] = [];
  for (let segment = await spool.take(); segment !== undefined; segment = await spool.take()) {
    batches.push(...segment.batches);
    await segment.remove();
  }
  return batches;
}

const numbers = (batches: readonly RecordBatch[]) => batches.map(({ records }) => records);

describe('the spool', () => {
  it('returns what was written, oldest first, and is then empty', async () => {
    const { spool } = newSpool();
    for (let number = 1; number <= 10; number += 1) {
      expect(await spool.append(batchOf(number))).toBe('spooled');
    }
    const files = await Promise.all((await readdir(dir)).map((name) => stat(path.join(dir, name))));
    expect(spool.bytes).toBe(files.reduce((sum, { size }) => sum + size, 0));
    const batches = await takeAll(spool);
    expect(numbers(batches)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(Buffer.from(batches[2]?.body ?? []).equals(Buffer.alloc(300, 3))).toBe(true);
    expect(spool.bytes).toBe(0);
    expect(await readdir(dir)).toEqual([]);
  });

  it('is found by the next process, which does not change existing files', async () => {
    const first = newSpool().spool;
    await first.append(batchOf(1));
    await first.close();
    const second = newSpool().spool;
    await second.append(batchOf(2));
    expect(await readdir(dir)).toHaveLength(2);
    expect(numbers(await takeAll(second))).toEqual([1, 2]);
  });

  it('loses nothing if a process ends after the next one has started', async () => {
    const ending = newSpool().spool;
    const next = newSpool().spool;
    expect(next.bytes).toBe(0);
    // Both have scanned the folder and found nothing.
    expect(await next.take()).toBeUndefined();
    expect(await ending.take()).toBeUndefined();
    expect(await ending.append(batchOf(1))).toBe('spooled');
    expect(await next.append(batchOf(2))).toBe('spooled');
    await ending.close();
    expect(numbers(await takeAll(next))).toEqual([2]);
    expect(numbers(await takeAll(newSpool().spool))).toEqual([1]);
  });

  it('keeps a file that was taken but not sent for the next process', async () => {
    const first = newSpool().spool;
    await first.append(batchOf(1));
    expect((await first.take())?.batches).toHaveLength(1);
    expect(await first.take()).toBeUndefined();
    await first.append(batchOf(2));
    await first.close();
    expect(numbers(await takeAll(newSpool().spool))).toEqual([1, 2]);
  });

  it('skips and logs an incomplete end, and loses nothing of the other files', async () => {
    const first = newSpool().spool;
    for (const number of [1, 2, 3, 4, 5, 6]) await first.append(batchOf(number));
    await first.close();
    const [name = ''] = (await readdir(dir)).sort();
    const file = path.join(dir, name);
    const content = await readFile(file);
    await writeFile(file, content.subarray(0, content.length - 1));
    const { spool, lines } = newSpool();
    expect(numbers(await takeAll(spool))).toEqual([1, 2, 3, 5, 6]);
    expect(lines.map(({ msg }) => msg)).toEqual(['incomplete end of a spool file skipped']);
    expect(spool.bytes).toBe(0);
  });

  it('skips and logs damage in the middle of a file, and loses nothing else', async () => {
    const first = newSpool({ segmentBytes: 10_000 }).spool;
    for (const number of [1, 2, 3]) await first.append(batchOf(number));
    await first.close();
    const [name = ''] = await readdir(dir);
    const content = await readFile(path.join(dir, name));
    content.writeUInt8(0xff, FIRST_LINE.length + encodeFrame(batchOf(1)).length);
    await writeFile(path.join(dir, name), content);
    const { spool, lines } = newSpool();
    expect(numbers(await takeAll(spool))).toEqual([1, 3]);
    const damage = { file: name, damaged_bytes: encodeFrame(batchOf(2)).length };
    expect(lines).toMatchObject([damage]);
    expect(spool.bytes).toBe(0);
  });

  it('loses no batch if the first line of a file is damaged', async () => {
    const first = newSpool().spool;
    await first.append(batchOf(1));
    await first.close();
    const [name = ''] = await readdir(dir);
    const content = await readFile(path.join(dir, name));
    content.write('?');
    await writeFile(path.join(dir, name), content);
    const { spool, lines } = newSpool();
    expect(numbers(await takeAll(spool))).toEqual([1]);
    expect(lines).toMatchObject([{ file: name, damaged_bytes: FIRST_LINE.length }]);
  });

  it('skips a file of an unknown format and leaves it for a process that knows it', async () => {
    const first = newSpool().spool;
    await first.append(batchOf(1));
    await first.close();
    const [name = ''] = await readdir(dir);
    const content = await readFile(path.join(dir, name), 'latin1');
    await writeFile(path.join(dir, name), content.replace('spool 1', 'spool 2'), 'latin1');
    const { spool, lines } = newSpool();
    await spool.append(batchOf(2));
    expect(numbers(await takeAll(spool))).toEqual([2]);
    const msg = 'spool file of unknown format skipped';
    expect(lines).toMatchObject([{ file: name, format: 2, msg }]);
    expect(await readdir(dir)).toEqual([name]);
  });

  it('never exceeds its limit, also over restarts, and accepts batches again when there is room', async () => {
    const size = FIRST_LINE.length + encodeFrame(batchOf(1)).length;
    const bounds = { maxBytes: size * 2 };
    const first = newSpool(bounds).spool;
    await first.append(batchOf(1));
    await first.close();
    const { spool } = newSpool(bounds);
    expect(await spool.append(batchOf(2))).toBe('spooled');
    expect(await spool.append(batchOf(3))).toBe('spool_full');
    const oldest = await spool.take();
    await oldest?.remove();
    expect(await spool.append(batchOf(4))).toBe('spooled');
    expect(numbers(await takeAll(spool))).toEqual([2, 4]);
  });

  it('reports a failed write, logs it once, and continues when writes succeed again', async () => {
    await writeFile(dir, 'a file where the folder should be');
    const { spool, lines } = newSpool();
    expect(await spool.append(batchOf(1))).toBe('spool_failed');
    expect(await spool.append(batchOf(2))).toBe('spool_failed');
    expect(lines.filter(({ msg }) => msg === 'spool write failed')).toHaveLength(1);
    expect(await spool.take()).toBeUndefined();
    await rm(dir);
    expect(await spool.append(batchOf(3))).toBe('spooled');
    expect(numbers(await takeAll(spool))).toEqual([3]);
  });

  it('is only readable by its owner, and ignores other files', async () => {
    const { spool } = newSpool();
    await spool.append(batchOf(1));
    await spool.close();
    await writeFile(path.join(dir, 'notes.txt'), 'not ours');
    const [name = ''] = (await readdir(dir)).filter((one) => one.endsWith('.spool'));
    expect((await stat(path.join(dir, name))).mode & 0o777).toBe(0o600);
    expect(numbers(await takeAll(newSpool().spool))).toEqual([1]);
    expect(await readdir(dir)).toEqual(['notes.txt']);
  });
});
