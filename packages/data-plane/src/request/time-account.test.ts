import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TimeAccount, WAIT_KINDS, type TimeState } from './time-account.ts';

const STATES = ['gateway', 'receiving', 'upstream', 'sending', ...WAIT_KINDS] as const;

/** What happens to a request, and how long after the event before it, ms. */
type Event = readonly [
  afterMs: number,
  what: { readonly enter: TimeState } | { readonly upload: boolean } | { readonly drain: boolean },
];

const events: fc.Arbitrary<readonly Event[]> = fc.array(
  fc.tuple(
    // Also times between two microseconds, and several events at once.
    fc.oneof(fc.constant(0), fc.double({ min: 0, max: 50_000, noNaN: true })),
    fc.oneof(
      fc.constantFrom(...STATES).map((enter) => ({ enter })),
      fc.boolean().map((upload) => ({ upload })),
      fc.boolean().map((drain) => ({ drain })),
    ),
  ),
  { maxLength: 40 },
);
const startMs = fc.double({ min: 0, max: 1e9, noNaN: true });

function run(startedMs: number, schedule: readonly Event[]): readonly [TimeAccount, number] {
  const times = new TimeAccount(startedMs);
  let nowMs = startedMs;
  for (const [afterMs, what] of schedule) {
    nowMs += afterMs;
    if ('enter' in what) times.enter(what.enter, nowMs);
    else if ('upload' in what) times.awaitUpload(what.upload, nowMs);
    else times.awaitDrain(what.drain, nowMs);
  }
  times.close(nowMs);
  return [times, nowMs - startedMs];
}

const partsOf = (times: TimeAccount) => STATES.map((state) => times[`${state}Us`]);
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

it('adds each instant to exactly one state, so that all add up to the total', () => {
  fc.assert(
    fc.property(startMs, events, (startedMs, schedule) => {
      const [times, totalMs] = run(startedMs, schedule);
      expect(sum(partsOf(times))).toBe(times.totalUs);
      expect(Math.abs(times.totalUs - totalMs * 1000)).toBeLessThan(1);
      expect(partsOf(times).every((us) => Number.isInteger(us) && us >= 0)).toBe(true);
      expect(times.waitingUs).toBe(sum(WAIT_KINDS.map((kind) => times[`${kind}Us`])));
    }),
  );
});

it('agrees with a model that looks at each millisecond alone', () => {
  const whole = events.map((schedule) =>
    schedule.map(([ms, what]): Event => [Math.trunc(ms / 1000), what]),
  );
  fc.assert(
    fc.property(whole, (schedule) => {
      const expected = new Map<string, number>(STATES.map((state) => [state, 0]));
      let state: TimeState = 'gateway';
      let [upload, drain] = [false, false];
      for (const [ms, what] of schedule) {
        const charged =
          state !== 'upstream' ? state : drain ? 'sending' : upload ? 'receiving' : 'upstream';
        expected.set(charged, (expected.get(charged) ?? 0) + ms * 1000);
        if ('enter' in what) state = what.enter;
        else if ('upload' in what) ({ upload } = what);
        else ({ drain } = what);
      }
      expect(partsOf(run(0, schedule)[0])).toEqual([...expected.values()]);
    }),
  );
});

it('gives the time between two entries at once to neither', () => {
  const times = new TimeAccount(10);
  times.enter('connection', 12);
  times.enterAtOnce('upstream');
  times.close(15);
  expect([times.gatewayUs, times.connectionUs, times.upstreamUs]).toEqual([2000, 0, 3000]);
});

it('takes a clock that stands still or is read out of order', () => {
  const times = new TimeAccount(10);
  times.enter('upstream', 20);
  times.enter('gateway', 19);
  times.close(20);
  expect([times.gatewayUs, times.upstreamUs, times.totalUs]).toEqual([10_000, 0, 10_000]);
});
