import { describe, expect, it } from '@jest/globals';
import { manualClock, type ManualClock } from '@gateway/shared/test/manual-clock';
import { awaitRecord } from './await-record.ts';

const never = new AbortController().signal;
const turn = () => new Promise(setImmediate);

/** A record that exists from the time `comesMs` on, and the number of queries for it. */
function recordComing(clock: ManualClock, comesMs: number) {
  const looked = { times: 0 };
  const find = () => {
    looked.times += 1;
    return Promise.resolve(clock.monotonicMs() >= comesMs ? 'record' : undefined);
  };
  return { find, looked };
}

/** Advances the clock until the promise is settled; returns by how much. */
async function timeTo(clock: ManualClock, promise: Promise<unknown>): Promise<number> {
  const progress = { settled: false };
  void promise.then(() => (progress.settled = true));
  const startMs = clock.monotonicMs();
  await turn();
  while (!progress.settled) {
    clock.advance(10);
    await turn();
  }
  return clock.monotonicMs() - startMs;
}

describe('the wait for a record', () => {
  it('does not happen if the record exists', async () => {
    const clock = manualClock();
    const { find, looked } = recordComing(clock, 0);
    expect(await awaitRecord(find, clock.nowMs(), clock, never)).toBe('record');
    expect(looked.times).toBe(1);
  });

  it.each([
    [50, 90],
    [300, 340],
    [1000, 1200],
  ])('ends soon after the record of a young request arrives: %i ms', async (comesMs, mostMs) => {
    const clock = manualClock();
    const { find } = recordComing(clock, comesMs);
    const found = awaitRecord(find, clock.nowMs() - 1000, clock, never);
    expect(await timeTo(clock, found)).toBeLessThanOrEqual(mostMs);
    expect(await found).toBe('record');
  });

  it('for a young request ends after two seconds and about twenty queries', async () => {
    const clock = manualClock();
    const { find, looked } = recordComing(clock, Infinity);
    const found = awaitRecord(find, clock.nowMs() - 4999, clock, never);
    expect(await timeTo(clock, found)).toBe(2000);
    expect(await found).toBeUndefined();
    expect(looked.times).toBeLessThanOrEqual(20);
  });

  it.each([-5000, 5000])('does not happen for a request %i ms from now', async (offsetMs) => {
    const clock = manualClock();
    const { find, looked } = recordComing(clock, 1);
    const receivedAtMs = clock.nowMs() + offsetMs;
    expect(await awaitRecord(find, receivedAtMs, clock, never)).toBeUndefined();
    expect(looked.times).toBe(1);
  });

  it('ends when the client disconnects', async () => {
    const clock = manualClock();
    const { find } = recordComing(clock, Infinity);
    const client = new AbortController();
    const found = awaitRecord(find, clock.nowMs(), clock, client.signal);
    await turn();
    client.abort();
    expect(await found).toBeUndefined();
    expect(clock.monotonicMs()).toBe(0);
  });
});
