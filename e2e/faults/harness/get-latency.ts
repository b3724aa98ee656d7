import { percentile } from '../../harness/figures.ts';
import type { ClientLoad } from './client-load.ts';

/** Durations of GETs, ms. */
export interface GetLatency {
  readonly median: number;
  readonly p99: number;
  readonly longest: number;
}

/** The durations of the GETs that were sent during the work. */
export async function latencyDuring(
  load: ClientLoad,
  work: () => Promise<unknown>,
): Promise<GetLatency> {
  const fromMs = performance.now();
  await work();
  const toMs = performance.now();
  // A request in flight counts too.
  await load.more(1);
  const tookMs = load.answers
    .filter(({ kind, sentAtMs }) => kind === 'get' && sentAtMs >= fromMs && sentAtMs < toMs)
    .map(({ sentAtMs, endedAtMs }) => endedAtMs - sentAtMs);
  const at = (rank: number) => percentile(tookMs, rank);
  return { median: at(0.5), p99: at(0.99), longest: at(1) };
}

/** A larger difference cannot be explained by a busy machine. */
const MEDIAN = { factor: 3, moreMs: 20 };
const P99 = { factor: 5, moreMs: 100 };

/** By how much GETs were slower during a fault than before; undefined if they were not. */
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
