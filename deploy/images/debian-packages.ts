import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { downloadPackages, unpackPackage } from '@gateway/tools/debian/packages.mjs';
import type { Architecture } from './platform.ts';

/** The packages of Debian that Node and flock are run with. */
const NAMES = [
  'gcc-12-base',
  'libatomic1',
  'libc6',
  'libgcc-s1',
  'libstdc++6',
  'util-linux',
] as const;

/** A package of Debian whose files are in an image. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: Architecture;
  /** Of its file, hexadecimal. */
  readonly sha256: string;
}

export interface UnpackedPackages {
  /** The folder with the files of all packages, as in the root of a system. */
  readonly root: string;
  readonly packages: readonly DebianPackage[];
}

export interface DebianOptions {
  /** Keeps the packages, by processor. Those that it has are used, else the newest ones are downloaded into it. */
  readonly folder: string;
  readonly log: (line: string) => void;
}

/**
 * Unpacks the packages for a processor into a new folder.
 *
 * @param root the new folder
 * @throws {Error} of one line if they cannot be downloaded
 */
export async function unpackDebian(
  architecture: Architecture,
  root: string,
  { folder, log }: DebianOptions,
): Promise<UnpackedPackages> {
  const kept = path.join(folder, architecture);
  await mkdir(kept, { recursive: true });
  if ((await packagesIn(kept)).length === 0) await download(architecture, kept, log);
  const files = await packagesIn(kept);
  const missing = NAMES.filter((name) => !files.some((file) => file.startsWith(`${name}_`)));
  if (missing.length > 0) throw new Error(`${kept} has no package ${missing.join(', ')}`);
  await mkdir(root, { recursive: true });
  const packages: DebianPackage[] = [];
  for (const file of files) {
    const request = { name: file, hint: `remove ${kept}` };
    await unpackPackage(path.join(kept, file), root, request);
    const bytes = await readFile(path.join(kept, file));
    const [name = '', version = ''] = file.split('_');
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    // A colon, which begins the rest of a version with an epoch, is encoded in names of files.
    packages.push({ name, version: decodeURIComponent(version), architecture, sha256 });
  }
  return { root, packages };
}

async function packagesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((file) => file.endsWith('.deb')).toSorted();
}

async function download(architecture: Architecture, kept: string, log: (line: string) => void) {
  const draft = await mkdtemp(path.join(tmpdir(), 'debian-packages-'));
  try {
    const name = `The packages of Debian for ${architecture}`;
    const command = ['download', ...NAMES];
    const hint = 'make images on Debian, with its mirrors in reach';
    const request = { name, command, hint, architecture };
    for (const file of await downloadPackages(draft, request, { log })) {
      await cp(file, path.join(kept, path.basename(file)));
    }
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
