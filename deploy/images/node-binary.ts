import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runOrThrow } from '@gateway/tools/process/run-command';
import { parse } from 'yaml';
import { z } from 'zod';
import { PLATFORMS, type Architecture } from './platform.ts';
import { pinnedNode } from './pinned-node.ts';

/** Node for an image, and the licences that come with it. */
export interface NodeFiles {
  readonly node: Buffer;
  readonly licence: Buffer;
}

const COMMAND_MS = 180_000;
const lockfile = fileURLToPath(new URL('../../pnpm-lock.yaml', import.meta.url));
const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ resolution: z.object({ integrity: z.string() }) })),
});

/**
 * The pinned Node for a processor: of the package that is installed for this one, else of the package that npm downloads and
 * whose hash the lockfile has.
 *
 * @throws Error if the package cannot be downloaded, or is another one than the lockfile names
 */
export async function nodeFor(architecture: Architecture): Promise<NodeFiles> {
  const { nodePackage } = PLATFORMS[architecture];
  const installed = installedPackage(nodePackage);
  if (installed !== undefined) return filesOf(installed);
  const folder = await mkdtemp(path.join(tmpdir(), 'node-package-'));
  try {
    const name = `${nodePackage}@${pinnedNode()}`;
    const args = ['pack', '--silent', '--pack-destination', folder, name];
    const file = (await runOrThrow('npm', args, { cwd: folder, timeoutMs: COMMAND_MS })).trim();
    const archive = path.join(folder, path.basename(file));
    await checkIntegrity(name, await readFile(archive));
    await runOrThrow('tar', ['-xzf', archive], { cwd: folder, timeoutMs: COMMAND_MS });
    return await filesOf(path.join(folder, 'package'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function installedPackage(name: string): string | undefined {
  const require = createRequire(new URL('../../tools/node/package.json', import.meta.url));
  try {
    return path.dirname(require.resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

async function filesOf(folder: string): Promise<NodeFiles> {
  const [node, licence] = await Promise.all([
    readFile(path.join(folder, 'bin/node')),
    readFile(path.join(folder, 'LICENSE')),
  ]);
  return { node, licence };
}

async function checkIntegrity(name: string, archive: Buffer): Promise<void> {
  const { packages } = lockSchema.parse(parse(await readFile(lockfile, 'utf8')));
  const actual = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
  if (packages[name]?.resolution.integrity !== actual) {
    throw new Error(`${name} is not the package that pnpm-lock.yaml names`);
  }
}
