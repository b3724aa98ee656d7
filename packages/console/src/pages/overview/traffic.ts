import type { Statistics } from '../../api/client.ts';
import type { TimeRange } from '../../ui/time-chart/time-scale.ts';
import { countsByStep, NO_COUNTS, statusCounts, type StatusCounts } from './status-classes.ts';

/** Traffic of a step. */
export interface TrafficPoint extends TimeRange {
  readonly requests: number;
  readonly errors: number;
  readonly statuses: StatusCounts;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

/** What was counted in a period. */
export interface TrafficSums {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly errors: number;
  readonly statuses: StatusCounts;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

/** Traffic as the overview shows it. */
export interface Traffic {
  /** What the charts show. */
  readonly range: TimeRange;
  readonly points: readonly TrafficPoint[];
  /** When what the large numbers count began, ms since the Unix epoch. */
  readonly sinceMs: number;
  readonly sums: TrafficSums;
  /** What they are compared with; undefined: nothing is known of it. */
  readonly before: TrafficSums | undefined;
  /** How many gRPC calls ended with each status; empty: there were none. */
  readonly grpcStatuses: Statistics['grpc_statuses'];
}

/** The traffic of a period. */
export function trafficOf(
  statistics: Statistics,
  before: Statistics | undefined,
  stepSeconds: number,
  nowMs: number,
): Traffic {
  const points = pointsOf(statistics, stepSeconds, nowMs);
  const range = rangeOf(statistics, nowMs);
  return {
    range,
    points,
    sinceMs: range.fromMs,
    sums: sumsOf(statistics, nowMs),
    before: before && sumsOf(before, nowMs),
    grpcStatuses: statistics.grpc_statuses,
  };
}

/** The period, up to now. */
function rangeOf({ from, to }: Statistics, nowMs: number): TimeRange {
  const fromMs = Date.parse(from);
  return { fromMs, toMs: Math.min(Date.parse(to), Math.max(nowMs, fromMs + 1000)) };
}

/** What is counted in the whole period. */
export function sumsOf(statistics: Statistics, nowMs: number): TrafficSums {
  const { total, groups } = statistics;
  const { fromMs, toMs } = rangeOf(statistics, nowMs);
  return {
    requests: total.requests,
    errors: total.errors,
    requestsPerSecond: (total.requests * 1000) / (toMs - fromMs),
    statuses: statusCounts(groups),
    ...percentilesOf(total),
  };
}

/** A point for each step, also for those without requests. The first and the last one may be cut by the period. */
export function pointsOf(
  statistics: Statistics,
  stepSeconds: number,
  nowMs: number,
): readonly TrafficPoint[] {
  const { fromMs, toMs } = rangeOf(statistics, nowMs);
  const stepMs = stepSeconds * 1000;
  const counted = new Map(statistics.steps.map((step) => [Date.parse(step.at), step]));
  const statuses = countsByStep(statistics.groups);
  const points: TrafficPoint[] = [];
  for (let at = Math.floor(fromMs / stepMs) * stepMs; at < toMs; at += stepMs) {
    const step = counted.get(at);
    points.push({
      fromMs: Math.max(at, fromMs),
      toMs: Math.min(at + stepMs, toMs),
      requests: step?.requests ?? 0,
      errors: step?.errors ?? 0,
      statuses: statuses.get(at) ?? NO_COUNTS,
      ...percentilesOf(step),
    });
  }
  return points;
}

interface Percentiles {
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly p99_ms: number | null;
}

/** The percentiles of a step or a period; null without requests. */
function percentilesOf(counted: Percentiles | undefined) {
  const { p50_ms: p50 = null, p95_ms: p95 = null, p99_ms: p99 = null } = counted ?? {};
  return { p50, p95, p99 };
}

/** A part of all requests; null: there were none. */
export function shareOf(part: number, { requests }: { readonly requests: number }): number | null {
  return requests === 0 ? null : part / requests;
}
