import type { Answer, Call } from './window-load.ts';

/** Calls of one route, by window. */
export interface WindowCount {
  readonly window: number;
  readonly offered: number;
  readonly granted: number;
}

/** The latency in the header is rounded. */
const ROUNDING_MS = 1;

/**
 * The window in which a request was decided. It is certain if the data plane received and decided the request within one
 * window. Otherwise it is the latest in which the header may have the value that was read. The times of the caller do not
 * count: on a busy machine it may read a response a second late.
 */
export function windowOf(
  { receivedMs, gatewayMs, resetSeconds }: Omit<Answer, 'status'>,
  windowMs: number,
): number {
  const decidedMs = receivedMs + gatewayMs + ROUNDING_MS;
  const first = Math.floor(receivedMs / windowMs);
  for (let window = Math.floor(decidedMs / windowMs); window > first; window -= 1) {
    const fromMs = (window + 1) * windowMs - resetSeconds * 1000;
    if (fromMs >= window * windowMs && fromMs <= decidedMs) return window;
  }
  return first;
}

/**
 * Counts what was granted in each window. A request whose data plane was killed before it answered was granted if it
 * arrived at the upstream.
 *
 * @param arrivals when each call arrived at the upstream, by its id
 */
export function countWindows(
  calls: readonly Call[],
  arrivals: ReadonlyMap<string, number>,
  windowMs: number,
): readonly WindowCount[] {
  const counts = new Map<number, { offered: number; granted: number }>();
  const at = (window: number) => {
    const count = counts.get(window) ?? { offered: 0, granted: 0 };
    counts.set(window, count);
    return count;
  };
  for (const { id, sentMs, answer } of calls) {
    at(Math.floor(sentMs / windowMs)).offered += 1;
    const arrivedAtMs = arrivals.get(id);
    if (answer === undefined) {
      if (arrivedAtMs !== undefined) at(Math.floor(arrivedAtMs / windowMs)).granted += 1;
    } else if (answer.status === 200 || arrivedAtMs !== undefined) {
      at(windowOf(answer, windowMs)).granted += 1;
    }
  }
  return [...counts]
    .map(([window, count]) => ({ window, ...count }))
    .toSorted((a, b) => a.window - b.window);
}
