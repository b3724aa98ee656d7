import type { Answer, Call } from './window-load.ts';

/** Calls of one route, by window. */
export interface WindowCount {
  readonly window: number;
  readonly offered: number;
  /** Certainly granted in this window. */
  readonly granted: number;
  /** Granted in this window or in an earlier one. */
  readonly uncertain: number;
}

/** The times in id and header are rounded, and the clock of NATS may differ from that of the data plane by this. */
const TOLERANCE_MS = 100;

/**
 * The windows in which a request may have been decided: the data plane had received it by then, had not responded, and
 * told the time to the end of the window, in whole seconds. Nearly always there is one; two if the request waited for
 * most of a second. The times of the caller do not count: on a busy machine it may read a response a second late.
 */
export function windowsOf(
  { receivedMs, gatewayMs, resetSeconds }: Omit<Answer, 'status'>,
  windowMs: number,
): readonly number[] {
  const earliestMs = receivedMs - TOLERANCE_MS;
  const latestMs = receivedMs + gatewayMs + TOLERANCE_MS;
  const windows: number[] = [];
  for (let window = Math.floor(earliestMs / windowMs); window * windowMs <= latestMs; window += 1) {
    const endMs = (window + 1) * windowMs;
    const toldFromMs = endMs - resetSeconds * 1000;
    if (toldFromMs <= latestMs && toldFromMs + 1000 > earliestMs) windows.push(window);
  }
  return windows;
}

/**
 * Counts what was granted in each window. A request without an answer, because its data plane was killed or its caller
 * stopped waiting, was granted if it arrived at the upstream: at some time after it was sent and before it arrived, which
 * may be seconds on a busy machine.
 *
 * @param arrivals when each call arrived at the upstream, by its id
 */
export function countWindows(
  calls: readonly Call[],
  arrivals: ReadonlyMap<string, number>,
  windowMs: number,
): readonly WindowCount[] {
  const counts = new Map<number, { offered: number; granted: number; uncertain: number }>();
  const at = (window: number) => {
    const count = counts.get(window) ?? { offered: 0, granted: 0, uncertain: 0 };
    counts.set(window, count);
    return count;
  };
  for (const { id, sentMs, answer } of calls) {
    at(Math.floor(sentMs / windowMs)).offered += 1;
    const arrivedAtMs = arrivals.get(id);
    if (answer === undefined) {
      if (arrivedAtMs === undefined) continue;
      const arrivedIn = Math.floor(arrivedAtMs / windowMs);
      const isCertain = Math.floor(sentMs / windowMs) === arrivedIn;
      at(arrivedIn)[isCertain ? 'granted' : 'uncertain'] += 1;
    } else if (answer.status === 200 || arrivedAtMs !== undefined) {
      const windows = windowsOf(answer, windowMs);
      const last = windows.at(-1) ?? Math.floor(answer.receivedMs / windowMs);
      at(last)[windows.length === 1 ? 'granted' : 'uncertain'] += 1;
    }
  }
  return [...counts]
    .map(([window, count]) => ({ window, ...count }))
    .toSorted((a, b) => a.window - b.window);
}
