import type { Statistics } from '../../api/client.ts';

/** Traffic at a time, or in a step that begins then. */
export interface TrafficPoint {
  readonly atMs: number;
  /** Requests and errors per second; null: not known. */
  readonly requests: number | null;
  readonly errors: number | null;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

/** Traffic as the overview shows it. */
export interface Traffic {
  readonly requestsPerSecond: number;
  /** The part of the requests that failed; null: there were none. */
  readonly errorShare: number | null;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  readonly points: readonly TrafficPoint[];
  /** How many gRPC calls ended with each status; empty: there were none. */
  readonly grpcStatuses: Statistics['grpc_statuses'];
}

/** The traffic of a period in steps. A step without requests counts 0; the last one may be cut by the time now. */
export function trafficOf(
  { from, to, total, steps, grpc_statuses: grpcStatuses }: Statistics,
  stepSeconds: number,
  nowMs: number,
): Traffic {
  const fromMs = Date.parse(from);
  const toMs = Math.min(Date.parse(to), Math.max(nowMs, fromMs + 1000));
  const stepMs = stepSeconds * 1000;
  const counted = new Map(steps.map((step) => [Date.parse(step.at), step]));
  const points: TrafficPoint[] = [];
  for (let at = Math.floor(fromMs / stepMs) * stepMs; at < toMs; at += stepMs) {
    const step = counted.get(at);
    const seconds = Math.max(1, (Math.min(at + stepMs, toMs) - Math.max(at, fromMs)) / 1000);
    points.push({
      atMs: Math.max(at, fromMs),
      requests: (step?.requests ?? 0) / seconds,
      errors: (step?.errors ?? 0) / seconds,
      ...percentilesOf(step),
    });
  }
  return {
    requestsPerSecond: total.requests / ((toMs - fromMs) / 1000),
    errorShare: shareOf(total),
    ...percentilesOf(total),
    points,
    grpcStatuses,
  };
}

interface Percentiles {
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly p99_ms: number | null;
}

/** The percentiles of a step or a period; null without requests. */
export function percentilesOf(counted: Percentiles | undefined) {
  const { p50_ms: p50 = null, p95_ms: p95 = null, p99_ms: p99 = null } = counted ?? {};
  return { p50, p95, p99 };
}

/** The part of the requests that failed. */
export function shareOf(counted: { readonly requests: number; readonly errors: number }) {
  return counted.requests === 0 ? null : counted.errors / counted.requests;
}
