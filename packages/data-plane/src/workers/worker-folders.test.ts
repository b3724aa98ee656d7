import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { prepareWorkerFolders } from './worker-folders.ts';

const silent = pino({ level: 'silent' });

describe('the folders of workers', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'gateway-workers-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  async function put(file: string, content: string): Promise<void> {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), content);
  }
  const spooled = async (): Promise<string[]> => {
    const names = (await readdir(path.join(dir, 'spool'))).toSorted();
    return Promise.all(names.map((name) => readFile(path.join(dir, 'spool', name), 'utf8')));
  };

  it('get the spooled records of former workers into the folder of the first one, which keeps its own', async () => {
    await put('spool/records-0000000007.spool', 'own');
    await put('worker-2/spool/records-0000000001.spool', 'of 2');
    await put('worker-3/spool/records-0000000010.spool', 'of 3, later');
    await put('worker-3/spool/records-0000000002.spool', 'of 3');
    await put('worker-3/last-good/production.snapshot', 'old');
    await prepareWorkerFolders(dir, 2, silent);
    expect(await spooled()).toEqual(['own', 'of 3', 'of 3, later']);
    expect((await readdir(dir)).toSorted()).toEqual(['spool', 'worker-2']);
    await prepareWorkerFolders(dir, 1, silent);
    expect(await spooled()).toEqual(['own', 'of 3', 'of 3, later', 'of 2']);
    expect(await readdir(dir)).toEqual(['spool']);
  });

  it('get a copy of the first last-good configuration if they have none of their own', async () => {
    await put('last-good/production.snapshot', 'newest');
    await put('last-good/production.snapshot.draft', 'torn');
    await put('worker-2/last-good/production.snapshot', 'its own');
    await prepareWorkerFolders(dir, 3, silent);
    const of = (worker: number) => path.join(dir, `worker-${worker}`, 'last-good');
    expect(await readdir(of(3))).toEqual(['production.snapshot']);
    expect(await readFile(path.join(of(3), 'production.snapshot'), 'utf8')).toBe('newest');
    expect(await readFile(path.join(of(2), 'production.snapshot'), 'utf8')).toBe('its own');
  });

  it('may be missing or unreadable without an error', async () => {
    await prepareWorkerFolders(path.join(dir, 'missing'), 2, silent);
    await put('file', '');
    await prepareWorkerFolders(path.join(dir, 'file'), 2, silent);
    expect(await readdir(dir)).toEqual(['file']);
  });
});
