import { StartError } from '@gateway/tools/process/errors';
import { log } from '../report/log.ts';
import { bodies } from './bodies.ts';
import { connections } from './connections.ts';
import { changes } from './changes.ts';
import type { Curve } from './curve.ts';
import { dataPlanes } from './data-planes.ts';
import { quotas } from './quotas.ts';
import { records } from './records.ts';
import { upstreams } from './upstreams.ts';
import { routes, tokens } from './configuration-size.ts';
import { describeCurve, writeCurve } from './write-curve.ts';

/** What `npm run bench -- curves` is given. */
export interface CurvesOptions {
  /** Of one curve; empty: all of them. */
  readonly name: string;
  /** Whether the image and the section of the page are written. */
  readonly write: boolean;
}

const CURVES: readonly Curve[] = [
  routes,
  tokens,
  quotas,
  upstreams,
  connections,
  bodies,
  dataPlanes,
  changes,
  records,
];

/**
 * Measures the chosen curves one after the other; prints and writes each as soon as it is measured.
 *
 * @throws {StartError} if there is no curve of this name
 */
export async function runCurves({ name, write }: CurvesOptions): Promise<void> {
  const chosen = CURVES.filter((curve) => name === '' || curve.name === name);
  if (chosen.length === 0) {
    const known = CURVES.map((curve) => curve.name).join(', ');
    throw new StartError(`unknown curve: ${name}; the curves are: ${known}`);
  }
  for (const curve of chosen) {
    log(`measuring ${curve.name}`);
    const series = await curve.measure();
    process.stdout.write(`${describeCurve(curve, series)}\n`);
    if (write) await writeCurve(curve, series);
  }
}
