import type { Clock } from '@gateway/shared/clock';
import type { RecordRow } from '../domain/request-record.ts';
import { isStatementTimeout } from '../store/failures.ts';
import { MAX_PAGE_BYTES, type BoundedRows } from '../store/bounded-rows.ts';
import type { RecordQuery } from '../store/records/records.ts';

/** For the whole list in one go: what an index answers takes milliseconds. */
const WHOLE_TIMEOUT_MS = 1000;
/** Then windows of time are searched one after the other; about so long in all. */
const WINDOWS_BUDGET_MS = 1500;
const WINDOW_TIMEOUT_MS = 500;
/** A window that took less than this is followed by a wider one. */
const QUICK_MS = 100;
const FIRST_WINDOW_MS = 10 * 60 * 1000;
const WIDEN = 4;
const NARROW = 8;

export interface RecordSearch {
  readonly rows: readonly RecordRow[];
  /**
   * Records from before this were not looked at, ms since the Unix epoch; undefined where all were, or
   * where the rows that were asked for were found.
   */
  readonly searchedToMs: number | undefined;
  /** Whether more were found, but left out as these weigh enough for a page. */
  readonly isCut: boolean;
}

/** @throws an error that `isStatementTimeout` knows, where Postgres takes longer than that. */
export type ListRecords = (
  query: RecordQuery,
  timeoutMs: number,
) => Promise<BoundedRows<RecordRow>>;

/**
 * Records, newest first, that pass every filter: found within about three seconds however many there
 * are, or as many of them as were found by then. An index leads to whatever one filter alone leaves;
 * where two are combined that are each common and hardly ever true together, Postgres may have to go
 * through most of the table. Then the list is searched by windows of time, and ends where time is up.
 *
 * @throws where Postgres fails, or does not get through even a small window.
 */
export async function searchRecords(
  list: ListRecords,
  clock: Pick<Clock, 'nowMs' | 'monotonicMs'>,
  query: RecordQuery,
): Promise<RecordSearch> {
  try {
    const { rows, isCut } = await list(query, WHOLE_TIMEOUT_MS);
    return { rows, isCut, searchedToMs: undefined };
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    return searchWindows(list, clock, query, error);
  }
}

async function searchWindows(
  list: ListRecords,
  clock: Pick<Clock, 'nowMs' | 'monotonicMs'>,
  query: RecordQuery,
  tooSlow: unknown,
): Promise<RecordSearch> {
  const endMs = clock.monotonicMs() + WINDOWS_BUDGET_MS;
  const rows: RecordRow[] = [];
  // A record of a data plane whose clock is ahead is in the first window too, which has no end.
  let untilMs = query.untilMs;
  let searchedToMs = Math.min(
    untilMs ?? Infinity,
    (query.after?.receivedAtMs ?? Infinity) + 1,
    clock.nowMs(),
  );
  let widthMs = FIRST_WINDOW_MS;
  let progress = false;
  let maxBytes = MAX_PAGE_BYTES;
  while (searchedToMs > query.sinceMs) {
    const startedMs = clock.monotonicMs();
    const leftMs = endMs - startedMs;
    if (leftMs <= 0) {
      if (!progress) throw tooSlow;
      return { rows, searchedToMs, isCut: false };
    }
    const sinceMs = Math.max(query.sinceMs, Math.floor(searchedToMs - widthMs));
    const window = { ...query, sinceMs, untilMs, maxBytes, limit: query.limit - rows.length };
    try {
      const found = await list(window, Math.min(WINDOW_TIMEOUT_MS, leftMs));
      rows.push(...found.rows);
      if (found.isCut) return { rows, searchedToMs: undefined, isCut: true };
      maxBytes -= found.bytes;
    } catch (error) {
      if (!isStatementTimeout(error)) throw error;
      widthMs = Math.max(1, widthMs / NARROW);
      continue;
    }
    progress = true;
    searchedToMs = sinceMs;
    untilMs = sinceMs;
    if (rows.length >= query.limit) break;
    if (maxBytes <= 0) return { rows, searchedToMs, isCut: false };
    if (clock.monotonicMs() - startedMs < QUICK_MS) widthMs *= WIDEN;
  }
  return { rows, searchedToMs: undefined, isCut: false };
}
