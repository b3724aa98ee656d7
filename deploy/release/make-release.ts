import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runOrThrow } from '@gateway/tools/process/run-command';
import type { DebianOptions } from '../images/debian-packages.ts';
import { ARCHITECTURES } from '../images/platform.ts';
import { buildProduct } from '../build-product.ts';
import { isLater, presentVersion } from '../present-version.ts';
import { writeArtefacts } from './artefacts.ts';
import { releasedChangelog, releaseTimeMs } from './changelog.ts';
import { SUMS } from './sums.ts';
import { setVersion } from './versioned-files.ts';

type Log = (line: string) => void;

const GIT_MS = 10_000;
const GZIP_LEVEL = 9;

/** Makes a working copy that version. @throws Error if it has other changes, which would become part of the release */
export async function makeVersion(root: string, version: string, now: Date, log: Log) {
  const status = ['status', '--porcelain'];
  const changes = (await runOrThrow('git', status, { cwd: root, timeoutMs: GIT_MS })).trim();
  if (changes !== '') throw new Error(`git status must be clean; commit or remove:\n${changes}`);
  const present = await presentVersion(root);
  if (!isLater(version, present)) {
    throw new Error(`the version must be later than ${present}, such as 1.2.3, not ${version}`);
  }
  const file = path.join(root, 'CHANGELOG.md');
  const changelog = await readFile(file, 'utf8');
  const released = releasedChangelog(changelog, version, now.toISOString().slice(0, 10));
  await setVersion(root, version);
  await writeFile(file, released);
  log(`version ${present} -> ${version}`);
}

/** @throws Error if the folder holds something else than former artefacts */
async function emptyOutput(output: string): Promise<void> {
  const present = await readdir(output).catch((): string[] => []);
  if (present.length > 0 && !present.includes(SUMS)) {
    throw new Error(`${output} is not empty and has no ${SUMS}; choose another --output`);
  }
  await rm(output, { recursive: true, force: true });
  await mkdir(output, { recursive: true });
}

export interface ReleaseOptions {
  readonly root: string;
  readonly output: string;
  readonly debian: DebianOptions;
  readonly now: Date;
  readonly log: Log;
}

/** Builds everything and writes the artefacts of the present version. */
export async function writeAll({ root, output, debian, now, log }: ReleaseOptions): Promise<void> {
  await buildProduct();
  await emptyOutput(output);
  const version = await presentVersion(root);
  const changelog = await readFile(path.join(root, 'CHANGELOG.md'), 'utf8');
  const options = { cwd: root, timeoutMs: GIT_MS };
  const files = await writeArtefacts({
    root,
    output,
    version,
    revision: (await runOrThrow('git', ['rev-parse', 'HEAD'], options)).trim(),
    // The day of the release, so that artefacts that are made again are the same.
    timeMs: releaseTimeMs(changelog, version) ?? now.getTime(),
    architectures: ARCHITECTURES,
    debian,
    gzipLevel: GZIP_LEVEL,
  });
  for (const file of files) log(path.join(path.relative(process.cwd(), output), file));
}
