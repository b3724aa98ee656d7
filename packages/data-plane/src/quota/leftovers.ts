import type { GivenUpWindows } from './recall.ts';
import type { QuotaCounter } from './quota-counter.ts';
import type { Leftover } from './saved-place.ts';

/** More are not kept: the next process then has none of the windows that have begun. */
const MAX_LEFTOVERS = 10_000;

/** What a data plane has left of all windows of which it used or gave up anything; undefined if there are too many. */
export function leftoversOf(
  counters: Iterable<QuotaCounter>,
  givenUp: GivenUpWindows,
  serverMs: number,
): readonly Leftover[] | undefined {
  const leftovers: Leftover[] = [];
  for (const [hash, { windowMs, window, keeps, limit }] of givenUp.all()) {
    if ((window + 1) * windowMs <= serverMs) continue;
    const former = { hash, window_ms: windowMs, window, limit };
    leftovers.push({ ...former, unused: 0, reserve: keeps, writes: 0, debt: 0 });
    if (leftovers.length > MAX_LEFTOVERS) return undefined;
  }
  for (const { key, window, endMs, limit, unused, debt, reserve } of counters) {
    if (endMs <= serverMs || !reserve.known) continue;
    const former = { hash: key.hash, window_ms: key.windowMs, window, limit };
    leftovers.push({ ...former, unused, reserve: reserve.left, writes: reserve.writes, debt });
    if (leftovers.length > MAX_LEFTOVERS) return undefined;
  }
  return leftovers;
}
