import { copyFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@gateway/shared/files/make-folder';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { spoolFileName, spoolFileNumber } from '../records/spool.ts';
import { folderOfWorker, workerOfFolder } from './worker-settings.ts';

const SPOOL = 'spool';
const LAST_GOOD = 'last-good';
/** A file that was not written to its end. */
const DRAFT = /\.draft$/;

/**
 * Prepares the folder of a data plane for this number of workers, before any of them runs. Records that
 * a worker of an earlier start left, and that none of this one would find, go to the spool of the first.
 * A worker that has no last-good configuration gets the first one's, so that it serves at once too
 * where NATS is away. What fails is said, and keeps nothing from serving.
 */
export async function prepareWorkerFolders(
  dir: string,
  workers: number,
  log: Logger,
): Promise<void> {
  try {
    for (const name of await namesIn(dir)) {
      const worker = workerOfFolder(name);
      if (worker !== undefined && worker > workers) await takeOver(dir, join(dir, name), log);
    }
    for (let worker = 2; worker <= workers; worker += 1) {
      await copyLastGood(dir, folderOfWorker(dir, worker));
    }
  } catch (error) {
    log.error({ reason: String(error) }, 'the folders of workers could not be prepared');
  }
}

async function takeOver(dir: string, former: string, log: Logger): Promise<void> {
  const spool = join(dir, SPOOL);
  const numbered = (names: readonly string[]) =>
    names.flatMap((name) => {
      const number = spoolFileNumber(name);
      return number === undefined ? [] : [{ name, number }];
    });
  const left = numbered(await namesIn(join(former, SPOOL)));
  if (left.length > 0) {
    await makeFolder(spool, 0o700);
    const own = numbered(await namesIn(spool));
    let last = Math.max(0, ...own.map(({ number }) => number));
    for (const { name } of left.toSorted((a, b) => a.number - b.number)) {
      last += 1;
      await rename(join(former, SPOOL, name), join(spool, spoolFileName(last)));
    }
    log.info({ files: left.length, from: former }, 'records of a former worker are taken over');
  }
  // Its last-good configuration would be out of date where the worker comes back one day.
  await rm(former, { recursive: true });
}

async function copyLastGood(from: string, to: string): Promise<void> {
  if ((await namesIn(join(to, LAST_GOOD))).length > 0) return;
  const names = (await namesIn(join(from, LAST_GOOD))).filter((name) => !DRAFT.test(name));
  if (names.length === 0) return;
  await makeFolder(join(to, LAST_GOOD), 0o700);
  for (const name of names) {
    const target = join(to, LAST_GOOD, name);
    // What is cut off on a full disk does not get the name of a whole file.
    await copyFile(join(from, LAST_GOOD, name), `${target}.draft`);
    await rename(`${target}.draft`, target);
  }
}

/** None where there is no such folder. */
async function namesIn(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
