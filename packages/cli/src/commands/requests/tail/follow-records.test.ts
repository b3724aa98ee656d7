import { requestRecord, timing } from '@gateway/shared/test/request-record';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { RequestRecord } from '../columns.ts';
import { LONG_LOOK_BACK_MS, RecordFollower, type FollowParts } from './follow-records.ts';

const BEGIN = Date.UTC(2030, 0, 1);
const END = BEGIN + 60_000;

/** A request: when it began, how long it took, and how long after its end its record was stored. */
interface Happened {
  readonly atMs: number;
  readonly tookMs: number;
  readonly lateMs: number;
}

interface Stored {
  readonly storedMs: number;
  readonly record: RequestRecord;
}

function stored({ atMs, tookMs, lateMs }: Happened): Stored {
  const row: unknown = {
    ...requestRecord(BEGIN + atMs, { timing: timing({ gateway_ms: tookMs }) }),
    received_at: new Date(BEGIN + atMs).toISOString(),
  };
  return { storedMs: BEGIN + atMs + tookMs + lateMs, record: row as RequestRecord };
}

interface Shown {
  readonly id: string;
  readonly atMs: number;
}

/** What a follower shows of these records, and when. The server has whole seconds, and may be away. */
async function follow(
  records: readonly Stored[],
  {
    readMs,
    isAway = () => false,
    waitMs = 0,
  }: { readMs: number; isAway?: (ms: number) => boolean; waitMs?: number },
): Promise<{ shown: Shown[]; events: string[] }> {
  let nowMs = BEGIN;
  let reading = 0;
  const events: string[] = [];
  const parts: FollowParts = {
    read(sinceMs, minDurationMs) {
      if (isAway(nowMs)) return Promise.reject(new Error('away'));
      const found = records.filter(
        ({ storedMs, record }) =>
          storedMs <= nowMs &&
          Date.parse(record.received_at) >= sinceMs &&
          record.timing.total_ms >= minDurationMs,
      );
      reading += 1;
      // Two reads run at a time.
      if (reading % 2 === 0) nowMs += readMs;
      const serverMs = Math.floor(nowMs / 1000) * 1000;
      return Promise.resolve({ records: found.map(({ record }) => record), serverMs });
    },
    pause(delayMs) {
      nowMs += delayMs;
      return nowMs < END ? Promise.resolve() : Promise.reject(new Error('the end'));
    },
    failed() {
      events.push('failed');
      return waitMs;
    },
    recovered: () => void events.push('recovered'),
    nowMs: () => nowMs,
  };
  const follower = new RecordFollower(parts, BEGIN);
  await follower.skipExisting();
  const shown: Shown[] = [];
  try {
    for await (const found of follower.follow()) {
      shown.push(...found.map(({ id }) => ({ id, atMs: nowMs })));
    }
  } catch (error) {
    if ((error as Error).message !== 'the end') throw error;
  }
  return { shown, events };
}

const happened = fc.record({
  atMs: fc.integer({ min: -LONG_LOOK_BACK_MS / 2, max: 60_000 }),
  tookMs: fc.oneof(fc.integer({ min: 0, max: 10_000 }), fc.integer({ min: 0, max: 500_000 })),
  lateMs: fc.integer({ min: 0, max: 1500 }),
});

describe('following request records', () => {
  it('shows each record once and within 2 s after it is stored, however long its request took', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(happened, { maxLength: 60 }),
        fc.integer({ min: 0, max: 500 }),
        async (requests, readMs) => {
          const records = requests.map(stored);
          const { shown } = await follow(records, { readMs });
          const ids = shown.map(({ id }) => id);
          expect(new Set(ids).size).toBe(ids.length);
          const atOf = new Map(shown.map(({ id, atMs }) => [id, atMs]));
          for (const { storedMs, record } of records) {
            if (storedMs <= BEGIN) expect(atOf.has(record.id)).toBe(false);
            // What comes in the last seconds may not be read any more.
            if (storedMs <= BEGIN + readMs || storedMs > END - 3000) continue;
            const atMs = atOf.get(record.id) ?? Infinity;
            expect(atMs - storedMs).toBeLessThanOrEqual(2000);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('shows what came while the gateway was away, and what it stored late after that, once', async () => {
    const isAway = (ms: number) => ms >= BEGIN + 5000 && ms < BEGIN + 25_000;
    const during = [6000, 10_000, 20_000].map((atMs) => stored({ atMs, tookMs: 5, lateMs: 100 }));
    const late = [6000, 10_000].map((atMs) => stored({ atMs, tookMs: 5, lateMs: 35_000 }));
    const { shown, events } = await follow([...during, ...late], { readMs: 5, isAway });
    const ids = [...during, ...late].map(({ record }) => record.id);
    expect(shown.map(({ id }) => id).sort()).toEqual(ids.sort());
    expect(events.filter((event) => event === 'recovered')).toHaveLength(1);
    expect(events[0]).toBe('failed');
  });

  it('does not ask again before the gateway allows it', async () => {
    const isAway = (ms: number) => ms >= BEGIN + 5000 && ms < BEGIN + 25_000;
    const during = stored({ atMs: 6000, tookMs: 5, lateMs: 100 });
    const { shown, events } = await follow([during], { readMs: 5, isAway, waitMs: 30_000 });
    expect(events).toEqual(['failed', 'recovered']);
    expect(shown.map(({ id }) => id)).toEqual([during.record.id]);
  });
});
