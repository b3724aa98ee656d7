import { isGrpcFailure } from '@gateway/client/grpc-status';
import type { RequestAttempt, RequestRecord } from '../../api/client.ts';

/** One attempt on the time axis of its request. */
export interface TimelineBar {
  readonly attempt: RequestAttempt;
  /** Where it starts and how long it is, in parts of the axis. */
  readonly start: number;
  readonly length: number;
  /** From the end of the attempt before to the start of this one. */
  readonly waitedMs: number;
  readonly failed: boolean;
}

export interface Timeline {
  /** The length of the axis, from the arrival of the request on. */
  readonly endMs: number;
  readonly ticksMs: readonly number[];
  readonly bars: readonly TimelineBar[];
}

/** At most this many intervals between ticks, so that their labels fit on a phone. */
const MAX_INTERVALS = 5;
/** A bar that is shorter could not be seen. */
const MIN_LENGTH = 0.005;

/** Where each attempt lies between the arrival of the request and its end. */
export function timelineOf({
  attempts,
  timing,
}: Pick<RequestRecord, 'attempts' | 'timing'>): Timeline {
  const endMs = Math.max(0.1, timing.total_ms, ...attempts.map(endOf));
  const bars = attempts.map((attempt, index): TimelineBar => {
    const before = attempts[index - 1];
    const start = Math.min(attempt.started_ms / endMs, 1 - MIN_LENGTH);
    return {
      attempt,
      start,
      length: Math.min(Math.max(attempt.duration_ms / endMs, MIN_LENGTH), 1 - start),
      waitedMs: before === undefined ? 0 : Math.max(0, attempt.started_ms - endOf(before)),
      failed: hasFailed(attempt),
    };
  });
  return { endMs, ticksMs: ticksOf(endMs), bars };
}

/** Whether the attempt failed by no fault of the caller. */
export function hasFailed({
  error,
  status = 0,
  grpc_status: grpcStatus,
}: Pick<RequestAttempt, 'error' | 'status' | 'grpc_status'>): boolean {
  return error !== undefined || status >= 500 || isGrpcFailure(grpcStatus);
}

function endOf({ started_ms, duration_ms }: RequestAttempt): number {
  return started_ms + duration_ms;
}

/** Round numbers from 0 on: 1, 2 or 5 with zeros. */
function ticksOf(endMs: number): number[] {
  const least = endMs / MAX_INTERVALS;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least) ?? endMs;
  const count = Math.floor(endMs / step + 1e-9);
  return Array.from({ length: count + 1 }, (_none, index) => index * step);
}
