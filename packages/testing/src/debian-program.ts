import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { cachedProgram } from '@gateway/tools/cache-path.mjs';
import {
  downloadPackages,
  unpackPackage,
  type PackageRequest,
  type Steps,
} from '@gateway/tools/debian/packages.mjs';
import { isExecutable } from '@gateway/local-stack/process/find-on-path';

export interface DebianProgram extends PackageRequest {
  /** What it is downloaded for, for messages. */
  readonly purpose: string;
  /** The name of the folder that keeps its packages. */
  readonly folder: string;
  /** Its path in that folder. */
  readonly program: string;
}

/**
 * The folder with the unpacked packages of a program that tests use: an earlier download, else Debian's packages, whose
 * signatures apt verifies, unpacked without root. Several processes may call it at once.
 *
 * @throws {StartError} that says how to install it
 */
export async function unpackedProgram(request: DebianProgram, steps: Steps): Promise<string> {
  const folder = cachedProgram(request.folder);
  const isThere = () => isUnpacked(request);
  if (await isThere()) return folder;
  const draft = `${folder}.${process.pid}`;
  const packages = path.join(draft, 'packages');
  const root = path.join(draft, 'root');
  try {
    steps.log(`Downloading ${request.name} for ${request.purpose} ...`);
    const files = await downloadPackages(packages, request, steps);
    await mkdir(root, { recursive: true });
    for (const file of files) await unpackPackage(file, root, request);
    await rename(root, folder).catch(async (error: unknown) => {
      // Another process was faster.
      if (!(await isThere())) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}

/** Whether an earlier download is there. */
export function isUnpacked(request: DebianProgram): Promise<boolean> {
  return isExecutable(path.join(cachedProgram(request.folder), request.program));
}

/** The folder of libraries in the packages of this processor, relative to the root of a system. */
export const LIBRARIES = `usr/lib/${process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu'}`;
