import type { Clock } from '@gateway/shared/clock';
import { isStatementTimeout } from '../store/failures.ts';
import { MAX_PAGE_BYTES, type BoundedRows, type TimeRange } from '../store/bounded-rows.ts';

/** For a single query. It takes milliseconds if an index serves it. */
const WHOLE_TIMEOUT_MS = 1000;
/** After that, windows of time are searched one after the other, for about this long in total. */
const WINDOWS_BUDGET_MS = 1500;
const WINDOW_TIMEOUT_MS = 500;
/** If a window takes less than this, the next one is wider. */
const QUICK_MS = 100;
const FIRST_WINDOW_MS = 10 * 60 * 1000;
const WIDEN = 4;
const NARROW = 8;

export interface SearchResult<Row> {
  readonly rows: readonly Row[];
  /**
   * Rows older than this were not searched, ms since the Unix epoch; undefined if all were, or if enough rows
   * were found.
   */
  readonly searchedToMs: number | undefined;
  /** Whether rows were left out because the page would be too large. */
  readonly isCut: boolean;
}

/** @throws an error for which `isStatementTimeout` is true, if Postgres takes longer than `timeoutMs` */
export type ListRows<Query extends TimeRange, Row> = (
  query: Query,
  timeoutMs: number,
) => Promise<BoundedRows<Row>>;

/**
 * Returns the rows that match all filters, newest first: those found within about three seconds, however large the table
 * is. If no index serves the filters, or two of them are common but rarely match together, Postgres may have to read most
 * of the table. Then the list is searched by windows of time until the time is up.
 *
 * @throws if Postgres fails, or cannot search even a small window in time
 */
export async function searchByTime<Query extends TimeRange, Row>(
  list: ListRows<Query, Row>,
  clock: Pick<Clock, 'nowMs' | 'monotonicMs'>,
  query: Query,
): Promise<SearchResult<Row>> {
  try {
    const { rows, isCut } = await list(query, WHOLE_TIMEOUT_MS);
    return { rows, isCut, searchedToMs: undefined };
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    return searchWindows(list, clock, query, error);
  }
}

async function searchWindows<Query extends TimeRange, Row>(
  list: ListRows<Query, Row>,
  clock: Pick<Clock, 'nowMs' | 'monotonicMs'>,
  query: Query,
  tooSlow: unknown,
): Promise<SearchResult<Row>> {
  const endMs = clock.monotonicMs() + WINDOWS_BUDGET_MS;
  const rows: Row[] = [];
  // The first window has no end: the clock of whoever wrote a row may be ahead.
  let untilMs = query.untilMs;
  let searchedToMs = Math.min(
    untilMs ?? Infinity,
    (query.after?.atMs ?? Infinity) + 1,
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
