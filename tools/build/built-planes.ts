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
  'packages/{control-plane,data-plane,http,shared}/{package.json,src/**/*.ts}',
  'tools/build/*.ts',
  'migrations/*.ts',
];

export function planeDigest(): string {
  return inputDigest(root, INPUTS);
}

export function planeFolder(plane: BundledPlane): string {
  return path.join(root, 'packages', plane, 'dist');
}

let building: Readonly<Record<BundledPlane, Promise<void>>> | undefined;

/**
 * The file that runs a plane. Bundles it first, unless it was bundled from the same sources before; a process looks once. In
 * processes of their own, because the bundler would keep its memory.
 *
 * @throws {StartError} with what the bundler said
 */
export async function builtPlane(plane: BundledPlane): Promise<string> {
  building ??= buildAll();
  await building[plane];
  return path.join(planeFolder(plane), 'main.mjs');
}

/** One after the other, so that a control plane starts while the data plane is bundled. */
function buildAll(): Readonly<Record<BundledPlane, Promise<void>>> {
  const digest = planeDigest();
  const controlPlane = build('control-plane', digest);
  const dataPlane = controlPlane.then(() => build('data-plane', digest));
  // Whoever needs the plane gets the error.
  dataPlane.catch(() => undefined);
  return { 'control-plane': controlPlane, 'data-plane': dataPlane };
}

async function build(plane: BundledPlane, digest: string): Promise<void> {
  if (await isBuilt({ folder: planeFolder(plane), digest })) return;
  const options = { timeoutMs: TIMEOUT_MS };
  const { code, output } = await runCommand(process.execPath, [BUILD, plane], options);
  if (code !== 0) throw new StartError(`the ${plane} could not be bundled:\n${output.trim()}`);
}
