import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBuilt } from './build-once.ts';
import { inputDigest } from './input-digest.ts';
import { StartError } from '../process/errors.ts';
import { runCommand } from '../process/run-command.ts';

export const BUNDLED = ['control-plane', 'data-plane'] as const;
export type BundledPlane = (typeof BUNDLED)[number];

export const root = fileURLToPath(new URL('../../', import.meta.url));
const BUILD = fileURLToPath(new URL('bundle-planes.ts', import.meta.url));
const TIMEOUT_MS = 120_000;
/** All that the bundles depend on. The lockfile stands for the packages. */
const INPUTS = [
  'pnpm-lock.yaml',
  'packages/{control-plane,data-plane,http1,shared}/{package.json,src/**/*.ts}',
  'tools/build/*.ts',
  'migrations/*.ts',
];

export function planeDigest(): string {
  return inputDigest(root, INPUTS);
}

export function planeFolder(plane: BundledPlane): string {
  return path.join(root, 'packages', plane, 'dist');
}

let building: Promise<void> | undefined;

/**
 * The file that runs a plane. Bundles it first, unless it was bundled from the same sources before; a process looks once. In a
 * process of its own, because the bundler would keep its memory.
 *
 * @throws {StartError} with what the bundler said
 */
export async function builtPlane(plane: BundledPlane): Promise<string> {
  building ??= build();
  await building;
  return path.join(planeFolder(plane), 'main.mjs');
}

async function build(): Promise<void> {
  const digest = planeDigest();
  const built = await Promise.all(
    BUNDLED.map((plane) => isBuilt({ folder: planeFolder(plane), digest })),
  );
  if (built.every(Boolean)) return;
  const { code, output } = await runCommand(process.execPath, [BUILD], { timeoutMs: TIMEOUT_MS });
  if (code !== 0) throw new StartError(`the planes could not be bundled:\n${output.trim()}`);
}
