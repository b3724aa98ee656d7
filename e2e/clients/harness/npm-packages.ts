import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { cachedProgram } from '@gateway/tools/cache-path.mjs';
import { runOrThrow } from '@gateway/tools/process/run-command';

/** Loads a module of a package. The caller says what it is, because nothing is checked against declarations. */
export type Load = (module: string) => unknown;

const MANIFEST = 'package.json';
const TIMEOUT_MS = 180_000;

/**
 * Packages that are too large for an install of the whole repository, with exact versions: those of an earlier run, else
 * from the registry. Several callers may ask for the same ones at once.
 *
 * @param overrides versions of what they depend on
 */
export async function installedPackages(
  versions: Readonly<Record<string, string>>,
  overrides?: Readonly<Record<string, string>>,
): Promise<Load> {
  const manifest = JSON.stringify({ private: true, dependencies: versions, overrides });
  const digest = createHash('sha256').update(manifest).digest('hex').slice(0, 16);
  const folder = cachedProgram(`client-packages-${digest}`);
  if (!existsSync(folder)) await install(folder, manifest);
  return createRequire(path.join(folder, MANIFEST));
}

/** The PATH of the system's Node: that of the repository may not know the certificates that the system's knows. */
export function systemPath(): string {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const ofSystem = folders.filter((one) => !one.endsWith(path.join('node_modules', '.bin')));
  return ofSystem.join(path.delimiter);
}

let drafts = 0;

async function install(folder: string, manifest: string): Promise<void> {
  const draft = `${folder}.${process.pid}-${(drafts += 1)}`;
  try {
    await mkdir(draft, { recursive: true });
    await writeFile(path.join(draft, MANIFEST), manifest);
    await runOrThrow('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], {
      cwd: draft,
      env: { ...process.env, PATH: systemPath() },
      timeoutMs: TIMEOUT_MS,
    });
    await rename(draft, folder).catch((error: unknown) => {
      // Another caller was faster.
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
