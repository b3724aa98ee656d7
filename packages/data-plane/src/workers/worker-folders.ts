import { copyFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../files/has-code.ts';
import { makeFolder } from '@gateway/shared/files/make-folder';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { spoolFileName, spoolFileNumber } from '../records/spool.ts';
import { folderOfWorker, workerOfFolder } from './worker-settings.ts';

const SPOOL = 'spool';
const LAST_GOOD = 'last-good';
/** The name of a file that is still being written. */
const DRAFT = /\.draft$/;

/**
 * Prepares the folder of a data plane for this number of workers, before any of them starts. Spooled records of workers that no
 * longer exist move to the spool of the first worker. A worker without a last-good configuration gets a copy of the first
 * worker's, so that it can serve at once even if NATS is unavailable. Errors are logged and do not prevent the start.
 */
export async function prepareWorkerFolders(
  dir: string,
  workers: number,
  log: Logger,
): Promise<void> {
  try {
    for (const name of await namesIn(dir)) {
      const worker = workerOfFolder(name);
      if (worker !== undefined && worker > workers) await moveSpool(dir, join(dir, name), log);
    }
    for (let worker = 2; worker <= workers; worker += 1) {
      await copyLastGood(dir, folderOfWorker(dir, worker));
    }
  } catch (error) {
    log.error({ reason: String(error) }, 'worker folders not prepared');
  }
}

/** Moves the spooled records of a former worker to the first worker and removes its folder. */
async function moveSpool(dir: string, former: string, log: Logger): Promise<void> {
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
    log.info({ files: left.length, from: former }, 'spooled records of a former worker moved');
  }
  // If WORKERS is raised again later, its last-good configuration would be outdated.
  await rm(former, { recursive: true });
}

async function copyLastGood(from: string, to: string): Promise<void> {
  if ((await namesIn(join(to, LAST_GOOD))).length > 0) return;
  const names = (await namesIn(join(from, LAST_GOOD))).filter((name) => !DRAFT.test(name));
  if (names.length === 0) return;
  await makeFolder(join(to, LAST_GOOD), 0o700);
  for (const name of names) {
    const target = join(to, LAST_GOOD, name);
    // On a full disk, an incomplete copy keeps the name of a draft.
    await copyFile(join(from, LAST_GOOD, name), `${target}.draft`);
    await rename(`${target}.draft`, target);
  }
}

/** The names in a folder; empty if it does not exist. */
async function namesIn(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
