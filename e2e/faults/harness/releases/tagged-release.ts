import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtPlane } from '@gateway/tools/build/built-planes';
import { runOrThrow } from '@gateway/tools/process/run-command';
import { builtIn, type Release } from './copied-release.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const INSTALL_MS = 300_000;

/** The release in this working copy. */
export async function thisRelease(): Promise<Release> {
  return {
    name: 'this release',
    controlPlane: await builtPlane('control-plane'),
    dataPlane: await builtPlane('data-plane'),
    remove: () => Promise.resolve(),
  };
}

/**
 * The release of a commit or tag of this repository, with the packages of its own lockfile.
 *
 * @throws Error with the reason if git does not know it, or it cannot be built
 */
export async function taggedRelease(ref: string): Promise<Release> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gateway-release-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const unpack = 'git archive --format=tar "$1" | tar -x -C "$2"';
    await runOrThrow('bash', ['-o', 'pipefail', '-c', unpack, 'unpack', ref, folder], {
      cwd: root,
      timeoutMs: INSTALL_MS,
    });
    await runOrThrow('npm', ['run', 'build'], { cwd: folder, timeoutMs: INSTALL_MS });
    return { ...builtIn(folder), name: ref, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
