// Downloads nats-server from Debian; see docs/adr/0042-which-nats-server.md.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { cachedProgram } from '../cache-path.mjs';
import { downloadPackages, unpackPackage } from './packages.mjs';

const NAME = 'nats-server';
/** The suite whose package is kept for all checkouts. */
export const NEWEST = 'unstable';

/**
 * Downloads the package of a suite of Debian and unpacks it in `folder`, which has nothing else afterwards.
 *
 * @param {string} folder
 * @param {string | undefined} suite undefined: the release of this system
 * @param {string} hint how to get the program in another way
 * @param {import('./packages.mjs').Steps} steps
 * @returns the path of the program, which the package may not have
 * @throws {Error} of one line
 */
export async function downloadNatsServer(folder, suite, hint, steps) {
  const request = { name: NAME, command: ['download', NAME], hint, suite };
  const download = path.join(folder, 'download');
  await rm(folder, { recursive: true, force: true });
  try {
    for (const file of await downloadPackages(download, request, steps)) {
      await unpackPackage(file, folder, request);
    }
  } finally {
    await rm(download, { recursive: true, force: true });
  }
  return path.join(folder, 'usr', 'sbin', NAME);
}

/**
 * Downloads the newest nats-server into the cache if this system has none, while the packages are installed. If that fails, the
 * start of NATS tries again and says why.
 *
 * @param {AbortSignal} signal
 * @param {string} [folders] where a system may have one; daemons are not always on the PATH of an ordinary user
 */
export async function prefetchNatsServer(
  signal,
  folders = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`,
) {
  const cached = cachedProgram(NAME);
  const env = { PATH: folders };
  const isInstalled = () => spawnSync(NAME, ['--version'], { env }).error === undefined;
  if (process.env.NATS_URL || existsSync(cached) || isInstalled()) return;
  const draft = `${cached}.${process.pid}`;
  try {
    await mkdir(path.dirname(cached), { recursive: true });
    const steps = { log: () => undefined, signal };
    await rename(await downloadNatsServer(draft, NEWEST, '', steps), cached);
  } catch {
    // The start of NATS reports it.
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
