import { percentile } from '../../harness/figures.ts';
import type { ClientLoad } from './client-load.ts';

/** How long GETs took, ms. */
export interface GetLatency {
  readonly median: number;
  readonly p99: number;
  readonly longest: number;
}

/** What the GETs took that were sent while the work was done. */
export async function latencyDuring(
  load: ClientLoad,
  work: () => Promise<unknown>,
): Promise<GetLatency> {
  const fromMs = performance.now();
  await work();
  const toMs = performance.now();
  // One that is under way counts too.
  await load.more(1);
  const tookMs = load.answers
    .filter(({ kind, sentAtMs }) => kind === 'get' && sentAtMs >= fromMs && sentAtMs < toMs)
    .map(({ sentAtMs, endedAtMs }) => endedAtMs - sentAtMs);
  const at = (rank: number) => percentile(tookMs, rank);
  return { median: at(0.5), p99: at(0.99), longest: at(1) };
}

/** Beyond these a machine that is merely busy does not explain the difference. */
const MEDIAN = { factor: 3, moreMs: 20 };
const P99 = { factor: 5, moreMs: 100 };

/** Why GETs were not as fast during a fault as before; undefined where they were. */
export function slowedDown(before: GetLatency, during: GetLatency): string | undefined {
  const slower =
    during.median > before.median * MEDIAN.factor + MEDIAN.moreMs ||
    during.p99 > before.p99 * P99.factor + P99.moreMs;
  return slower ? `GETs took longer: ${describeLatency(before, during)}` : undefined;
}

export function describeLatency(before: GetLatency, during: GetLatency): string {
  const ms = (value: number) => value.toFixed(1);
  return `GET median ${ms(before.median)} → ${ms(during.median)} ms, p99 ${ms(before.p99)} → ${ms(during.p99)} ms`;
}
