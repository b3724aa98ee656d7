import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { createIssuerKey } from '@gateway/shared/test/token-issuer';
import {
  COOLDOWN_MS,
  KeySetFetchError,
  MAX_AGE_MS,
  REFRESH_MS,
  RemoteKeySet,
  type FetchFailure,
} from './remote-key-set.ts';

type Answer = string | KeySetFetchError;

/** A key set with a manual clock, whose fetches the test answers. */
async function setUp() {
  const clock = manualClock();
  const pending: ((answer: Answer) => void)[] = [];
  const results: ('ok' | FetchFailure)[] = [];
  const dropped: number[] = [];
  let fetches = 0;
  const set = new RemoteKeySet({
    url: 'http://issuer.test/jwks.json',
    fetch: () => {
      fetches += 1;
      return new Promise((resolve, reject) => {
        pending.push((answer) => {
          if (typeof answer === 'string') resolve(answer);
          else reject(answer);
        });
      });
    },
    clock,
    random: () => 0,
    fetched: (result) => void results.push(result),
    dropped: (keys) => void dropped.push(keys),
  });
  const text = async () => JSON.stringify({ keys: [(await createIssuerKey()).jwk] });
  return {
    set,
    clock,
    results,
    dropped,
    document: await text(),
    otherDocument: await text(),
    fetches: () => fetches,
    pending: () => pending.length,
    /** Ends the running fetch. */
    answer: async (answer: Answer): Promise<void> => {
      const before = results.length;
      pending.shift()?.(answer);
      await eventually(() => {
        if (results.length === before) throw new Error('the fetch has not ended');
      });
    },
  };
}

const down = new KeySetFetchError('unreachable', 'ECONNREFUSED');

describe('the key set of an issuer', () => {
  it('reports dropped keys once per new set', async () => {
    const { set, clock, dropped, answer, document } = await setUp();
    const [key] = (JSON.parse(document) as { keys: unknown[] }).keys;
    const large = JSON.stringify({ keys: Array<unknown>(70).fill(key) });
    await answer(large);
    clock.advance(REFRESH_MS);
    await answer(large);
    expect(set.keys?.size).toBe(64);
    expect(dropped).toEqual([6]);
  });

  it('is fetched at creation and again periodically', async () => {
    const { set, clock, document, answer, fetches } = await setUp();
    expect(fetches()).toBe(1);
    expect(set.keys).toBeUndefined();
    await answer(document);
    expect(set.keys?.size).toBe(1);
    clock.advance(REFRESH_MS - 1);
    expect(fetches()).toBe(1);
    clock.advance(1);
    expect(fetches()).toBe(2);
  });

  it('stays the same object until the issuer changes its keys', async () => {
    const { set, clock, document, otherDocument, answer } = await setUp();
    await answer(document);
    const first = set.keys;
    clock.advance(REFRESH_MS);
    await answer(document);
    expect(set.keys).toBe(first);
    clock.advance(REFRESH_MS);
    await answer(otherDocument);
    expect(set.keys).toBeDefined();
    expect(set.keys).not.toBe(first);
  });

  it('is used for at most a day while the issuer is down or sends garbage', async () => {
    const { set, clock, document, answer, results } = await setUp();
    await answer(document);
    const first = set.keys;
    clock.advance(REFRESH_MS);
    await answer(down);
    clock.advance(1000);
    await answer('<html>');
    clock.advance(2000);
    await answer('{"keys":{}}');
    expect(results).toEqual(['ok', 'unreachable', 'malformed', 'malformed']);
    expect(set.keys).toBe(first);
    clock.advance(MAX_AGE_MS - REFRESH_MS - 3001);
    expect(set.keys).toBe(first);
    clock.advance(1);
    expect(set.keys).toBeUndefined();
  });

  it('is fetched with growing delays of at most ten seconds while the issuer is down', async () => {
    const { set, clock, document, answer, fetches } = await setUp();
    await answer(down);
    for (const [index, delayMs] of [1000, 2000, 4000, 8000, 10_000, 10_000].entries()) {
      expect(set.retryAfterSeconds).toBe(delayMs / 1000);
      clock.advance(delayMs - 1);
      expect(fetches()).toBe(index + 1);
      clock.advance(1);
      expect(fetches()).toBe(index + 2);
      await answer(down);
    }
    clock.advance(10_000);
    await answer(document);
    expect(set.keys?.size).toBe(1);
    clock.advance(REFRESH_MS - 1);
    expect(fetches()).toBe(8);
  });

  it('is fetched once for all waiting requests', async () => {
    const { set, clock, document, answer, fetches } = await setUp();
    const waiting = Promise.all([set.renewal(), set.renewal(), set.renewal()]);
    expect(fetches()).toBe(1);
    await answer(document);
    await waiting;
    clock.advance(1);
    const again = [set.renewal(), set.renewal()];
    expect(again.every((one) => one !== undefined)).toBe(true);
    expect(fetches()).toBe(2);
  });

  it('is fetched for unknown keys at most once in ten seconds', async () => {
    const { set, clock, document, answer, fetches } = await setUp();
    await answer(document);
    expect(set.renewal()).toBeDefined();
    await answer(document);
    clock.advance(COOLDOWN_MS - 1);
    expect(set.renewal()).toBeUndefined();
    expect(fetches()).toBe(2);
    clock.advance(1);
    expect(set.renewal()).toBeDefined();
    expect(fetches()).toBe(3);
  });

  it('lets at most 256 requests wait for a fetch, and 2000 for the first', async () => {
    const { set, clock, document, answer } = await setUp();
    for (const most of [2000, 256]) {
      const waiting = Array.from({ length: most }, () => set.renewal());
      expect(waiting.every((one) => one !== undefined)).toBe(true);
      expect(set.renewal()).toBeUndefined();
      await answer(document);
      clock.advance(COOLDOWN_MS);
    }
    expect(set.renewal()).toBeDefined();
  });

  it('is not fetched after close', async () => {
    const { set, clock, document, answer, fetches } = await setUp();
    await answer(document);
    set.close();
    clock.advance(10 * REFRESH_MS);
    expect(fetches()).toBe(1);
  });
});
