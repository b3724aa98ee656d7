import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { builtPlane } from '@gateway/tools/build/built-planes';

export type PlaneKind = 'control-plane' | 'data-plane';

export interface EndedPlane {
  /** null if the process did not end and was killed. */
  readonly code: number | null;
  /** The lines of standard output and standard error, in their order. */
  readonly lines: readonly string[];
}

const longestRunMs = 20_000;

/**
 * Runs a plane whose start must fail, with only these variables and the compile cache of this run.
 * Resolves when it has ended.
 */
export async function runPlane(
  kind: PlaneKind,
  env: Readonly<Record<string, string>>,
): Promise<EndedPlane> {
  const main = await builtPlane(kind);
  const child = spawn(process.execPath, [main], {
    env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: longestRunMs,
    killSignal: 'SIGKILL',
  });
  let written = '';
  child.stdout.on('data', (chunk: Buffer) => (written += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (written += chunk.toString('utf8')));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, lines: written.split('\n').filter((line) => line !== '') };
}
