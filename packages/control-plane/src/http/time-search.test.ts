import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { lowestId, timeOfId } from '@gateway/shared/ids';
import { manualClock } from '@gateway/shared/test/manual-clock';
import type { RecordRow } from '../requests/request-record.ts';
import { MAX_PAGE_BYTES } from '../store/bounded-rows.ts';
import type { RecordQuery } from '../requests/store/records.ts';
import { searchByTime, type ListRows } from './time-search.ts';

const NOW = Date.UTC(2030, 5, 15, 12);
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const LIMIT = 4;

function row(receivedAtMs: number): RecordRow {
  const id = lowestId('req', receivedAtMs);
  return {
    id,
    receivedAtMs,
    environment: 'e',
    route: 'r',
    status: 200,
    outcome: 'success',
    document: {},
  };
}

/** A Postgres that takes a millisecond for each `msPerMs` of the searched time. */
function slowStore(rows: readonly RecordRow[], msPerMs: number, rowBytes = 1000) {
  const clock = manualClock(NOW);
  const calls: { query: RecordQuery; timeoutMs: number }[] = [];
  const list: ListRows<RecordQuery, RecordRow> = (query, timeoutMs) => {
    calls.push({ query, timeoutMs });
    const until = Math.min(query.untilMs ?? NOW, query.after?.atMs ?? NOW);
    const tookMs = (until - query.sinceMs) / msPerMs;
    clock.advance(Math.min(tookMs, timeoutMs));
    if (tookMs > timeoutMs) {
      return Promise.reject(Object.assign(new Error('statement timeout'), { code: '57014' }));
    }
    const found = rows.filter(
      ({ receivedAtMs, id }) =>
        receivedAtMs >= query.sinceMs &&
        receivedAtMs < (query.untilMs ?? Infinity) &&
        (query.after === undefined || id < query.after.id),
    );
    const listed = found.toReversed().slice(0, query.limit);
    const most = Math.max(1, Math.ceil((query.maxBytes ?? MAX_PAGE_BYTES) / rowBytes));
    const rowsShown = listed.slice(0, most);
    return Promise.resolve({
      rows: rowsShown,
      bytes: rowsShown.length * rowBytes,
      isCut: rowsShown.length < listed.length,
    });
  };
  return { clock, list, calls };
}

const everything = { environments: undefined, routes: undefined, sinceMs: NOW - 30 * DAY_MS };

describe('a search of records', () => {
  it('is one statement if Postgres is fast', async () => {
    const rows = [row(NOW - 2), row(NOW - 1)];
    const { list, clock, calls } = slowStore(rows, DAY_MS);
    expect(await searchByTime(list, clock, { ...everything, limit: LIMIT })).toEqual({
      rows: rows.toReversed(),
      searchedToMs: undefined,
      isCut: false,
    });
    expect(calls).toHaveLength(1);
  });

  it('that is slow ends in time, with the rows so far and a position to continue from', async () => {
    const rows = [row(NOW - 29 * DAY_MS), row(NOW - HOUR_MS), row(NOW - 1)];
    const { list, clock } = slowStore(rows, HOUR_MS / 50);
    const found = await searchByTime(list, clock, { ...everything, limit: LIMIT });
    expect(found.rows).toEqual(rows.slice(1).toReversed());
    expect(found.searchedToMs).toBeLessThan(NOW - 10 * HOUR_MS);
    expect(clock.monotonicMs()).toBeLessThanOrEqual(3000);
  });

  it('finds each record once and in order, whatever the bounds of windows and pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 0, max: 30 * DAY_MS }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 24 * 60 }),
        fc.constantFrom(1000, Math.floor(MAX_PAGE_BYTES / 3), MAX_PAGE_BYTES * 2),
        async (ages, minutesPerMs, rowBytes) => {
          const rows = ages
            .map((age) => row(NOW - age))
            .sort((a, b) => a.receivedAtMs - b.receivedAtMs);
          const { list, clock } = slowStore(rows, minutesPerMs * 60_000, rowBytes);
          const seen: RecordRow[] = [];
          let after: RecordQuery['after'];
          for (let page = 0; page < 2000; page += 1) {
            const found = await searchByTime(list, clock, { ...everything, after, limit: LIMIT });
            seen.push(...found.rows);
            const last = found.rows.at(-1);
            expect((found.rows.length - 1) * rowBytes).toBeLessThan(MAX_PAGE_BYTES);
            const goesOn = found.rows.length === LIMIT || found.isCut;
            if (goesOn && last !== undefined) after = { id: last.id, atMs: last.receivedAtMs };
            else if (found.searchedToMs === undefined) break;
            else {
              const id = lowestId('req', found.searchedToMs);
              after = { id, atMs: timeOfId(id) };
            }
          }
          expect(seen.map(({ id }) => id)).toEqual(rows.map(({ id }) => id).reverse());
        },
      ),
      { numRuns: 60 },
    );
  });

  it('fails if Postgres cannot search even a small window in time', async () => {
    const { list, clock } = slowStore([], 1e-6);
    await expect(searchByTime(list, clock, { ...everything, limit: LIMIT })).rejects.toThrow(
      'statement timeout',
    );
    expect(clock.monotonicMs()).toBeLessThanOrEqual(3000);
  });

  it('fails at once if Postgres fails for another reason', async () => {
    const { clock } = slowStore([], 1);
    let calls = 0;
    const away: ListRows<RecordQuery, RecordRow> = () => {
      calls += 1;
      return Promise.reject(Object.assign(new Error('connection lost'), { code: '08006' }));
    };
    await expect(searchByTime(away, clock, { ...everything, limit: LIMIT })).rejects.toThrow(
      'connection lost',
    );
    expect(calls).toBe(1);
  });
});
