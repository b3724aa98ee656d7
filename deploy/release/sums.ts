import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** The file with the checksums of all others. */
export const SUMS = 'SHA256SUMS';
/** What is beside the file, and not in it: its own signature. */
const OUTSIDE = [SUMS, `${SUMS}.minisig`];

/** The version of the release in a folder, which need not be that of the sources. @throws Error if it is no release */
export async function releasedVersion(folder: string): Promise<string> {
  const versions = (await readdir(folder)).flatMap(
    (file) => /^images-(.+)\.json$/.exec(file)?.[1] ?? [],
  );
  const [version] = versions;
  if (version === undefined || versions.length > 1) {
    throw new Error(`${folder} must have one file images-<version>.json`);
  }
  return version;
}

/** Writes the checksums of all files of a folder, as `sha256sum -c` reads them. */
export async function writeSums(folder: string): Promise<void> {
  await writeFile(path.join(folder, SUMS), await sumsOf(folder));
}

/** @throws Error if a file was changed, is missing, or was added */
export async function verifySums(folder: string): Promise<void> {
  const written = (await readFile(path.join(folder, SUMS), 'utf8')).split('\n');
  const present = (await sumsOf(folder)).split('\n');
  const wrong = [
    ...written.filter((line) => !present.includes(line)),
    ...present.filter((line) => !written.includes(line)),
  ].map((line) => line.replace(/^\S+ +/, ''));
  if (wrong.length > 0) {
    throw new Error(`not as ${SUMS} says: ${[...new Set(wrong)].join(', ')}`);
  }
}

async function sumsOf(folder: string): Promise<string> {
  const files = (await readdir(folder)).filter((file) => !OUTSIDE.includes(file)).toSorted();
  const lines: string[] = [];
  for (const file of files) {
    const content = await readFile(path.join(folder, file));
    lines.push(`${createHash('sha256').update(content).digest('hex')}  ${file}\n`);
  }
  return lines.join('');
}
