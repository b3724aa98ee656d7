import { formatCells } from '../report/table.ts';
import type { Measured } from './load-process.ts';
import type { Longest } from './read-pauses.ts';

interface Both {
  readonly nginx: Measured;
  readonly gateway: Measured;
}

const MAX_P99_RATIO = 2;
const MAX_PAUSE_MS = 20;
const HEAD = ['proxy', 'requests', 'failed', 'p50 ms', 'p99 ms', 'p99.9 ms', 'max ms'];

export function formatLatency(measured: Both): string {
  return formatCells(
    HEAD,
    (
      [
        ['nginx', measured.nginx],
        ['gateway', measured.gateway],
      ] as const
    ).map(([name, one]) => [
      name,
      String(one.requests),
      String(one.failed),
      ...[one.p50Ms, one.p99Ms, one.p999Ms, one.maxMs].map((ms) => ms.toFixed(2)),
    ]),
  );
}

/** Compares a run with what must hold. Failed requests have no latency, so any of them breaks it. */
export function judge(
  { nginx, gateway }: Both,
  { ownDelayMs }: Longest,
): { readonly isKept: boolean; readonly text: string } {
  const ratio = gateway.p99Ms / nginx.p99Ms;
  const failed = gateway.failed + nginx.failed;
  const isKept = ratio <= MAX_P99_RATIO && ownDelayMs <= MAX_PAUSE_MS && failed === 0;
  const text =
    `The gateway's p99 is ${ratio.toFixed(2)} × nginx's (goal: at most ${MAX_P99_RATIO}); its longest pause is ` +
    `${ownDelayMs.toFixed(1)} ms (goal: at most ${MAX_PAUSE_MS}).`;
  return { isKept, text };
}
