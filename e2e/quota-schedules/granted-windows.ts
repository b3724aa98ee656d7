import type { Call } from './window-load.ts';

/** Calls of one route, by window. */
export interface WindowCount {
  readonly window: number;
  readonly offered: number;
  readonly granted: number;
}

/**
 * The window in which a request was decided. It is certain if the request was sent and answered in the same one.
 * Otherwise it is the latest in which the header may have the value that was read.
 */
export function windowOf(
  sentMs: number,
  { atMs, resetSeconds }: { readonly atMs: number; readonly resetSeconds: number },
  windowMs: number,
): number {
  const first = Math.floor(sentMs / windowMs);
  const last = Math.floor(atMs / windowMs);
  for (let window = last; window > first; window -= 1) {
    const fromMs = (window + 1) * windowMs - resetSeconds * 1000;
    if (fromMs >= window * windowMs && fromMs <= atMs) return window;
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
      at(windowOf(sentMs, answer, windowMs)).granted += 1;
    }
  }
  return [...counts]
    .map(([window, count]) => ({ window, ...count }))
    .toSorted((a, b) => a.window - b.window);
}
