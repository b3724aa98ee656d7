import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CountedVerdict } from '../attempt-end.ts';
import {
  CONSECUTIVE_FAILURES,
  EJECTION_MS,
  EJECTIONS_FORGOTTEN_MS,
  MAX_EJECTION_FACTOR,
} from './ejection.ts';
import { HEALTH_AFTER, UpstreamState, type CheckVerdict } from './upstream-state.ts';

const THRESHOLDS = { healthyThreshold: 2, unhealthyThreshold: 3 };
const YES = () => true;

function attempt(state: UpstreamState, verdict: CountedVerdict, nowMs = 0, mayEject = YES) {
  return state.ended(verdict, state.begin(), mayEject, nowMs);
}

function fail(state: UpstreamState, times: number, nowMs = 0, verdict: CountedVerdict = 'bad') {
  for (let count = 0; count < times; count += 1) attempt(state, verdict, nowMs);
}

function check(state: UpstreamState, ...results: boolean[]) {
  return results.map((good) => state.checked(good ? 'good' : 'bad', THRESHOLDS, 0)).at(-1);
}

/** Ejected because of bad responses, then half open. */
function halfOpen(): UpstreamState {
  const state = new UpstreamState();
  check(state, true);
  fail(state, CONSECUTIVE_FAILURES);
  state.elapsed(EJECTION_MS);
  return state;
}

describe('active checks of an upstream', () => {
  it('make it healthy with the first good one; it is used before', () => {
    const state = new UpstreamState();
    expect(state).toMatchObject({ name: 'unknown', usable: true });
    expect(check(state, true)).toEqual({ from: 'unknown', to: 'healthy', reason: 'check_passed' });
  });

  it('make it unhealthy after as many bad ones in a row as the threshold says, and healthy after as many good ones', () => {
    const state = new UpstreamState();
    expect(check(state, true, false, false, true, false, false)).toBeUndefined();
    expect(state).toMatchObject({ name: 'healthy', unsettled: 'bad' });
    expect(check(state, false)).toEqual({
      from: 'healthy',
      to: 'unhealthy',
      reason: 'checks_failed',
    });
    expect(state).toMatchObject({ usable: false, unsettled: undefined });
    expect(check(state, true, false, true)).toBeUndefined();
    expect(state).toMatchObject({ name: 'unhealthy', unsettled: 'good' });
    expect(check(state, true)).toMatchObject({ to: 'healthy' });
    expect(state).toMatchObject({ usable: true, unsettled: undefined });
  });

  it('show whether an upstream accepts connections, whatever its responses', () => {
    const state = new UpstreamState();
    const verdicts: CheckVerdict[] = ['unreachable', 'bad', 'unreachable', 'good'];
    const reachable = verdicts.map((verdict) => {
      state.checked(verdict, THRESHOLDS, 0);
      return state.reachable;
    });
    expect(reachable).toEqual([false, true, false, true]);
  });

  it('alone make an unhealthy upstream healthy again: no request does', () => {
    const state = new UpstreamState();
    check(state, false, false, false);
    for (let count = 0; count < 20; count += 1) attempt(state, 'good');
    expect(state.usable).toBe(false);
  });
});

describe('passive ejection of an upstream', () => {
  it('follows five failures in a row of whatever kind, not interrupted by a success', () => {
    const state = new UpstreamState();
    fail(state, 4);
    attempt(state, 'good');
    fail(state, 3);
    attempt(state, 'unreachable');
    expect(state.usable).toBe(true);
    attempt(state, 'nothing');
    expect(attempt(state, 'bad')).toMatchObject({ to: 'ejected', reason: 'consecutive_failures' });
    expect(state).toMatchObject({ usable: false, ejected: true });
  });

  it('waits until one more upstream may be ejected, and requests a check meanwhile', () => {
    const state = new UpstreamState();
    for (let count = 0; count < 9; count += 1) attempt(state, 'bad', 0, () => false);
    expect(state).toMatchObject({ usable: true, suspected: true });
    expect(attempt(state, 'bad')).toMatchObject({ to: 'ejected' });
  });

  it('is followed by half open, which allows single requests until one succeeds', () => {
    const state = halfOpen();
    expect(state).toMatchObject({ name: 'half_open', usable: true, ejected: true });
    const probe = state.begin();
    expect(probe).toBeGreaterThan(0);
    expect(state.usable).toBe(false);
    expect(state.begin()).toBe(0);
    expect(state.ended('nothing', probe, YES, EJECTION_MS)).toBeUndefined();
    expect(state.usable).toBe(true);
    const next = state.begin();
    expect(state.ended('good', 0, YES, EJECTION_MS)).toBeUndefined();
    expect(state.usable).toBe(false);
    expect(state.ended('good', next, YES, EJECTION_MS)).toEqual({
      from: 'half_open',
      to: 'healthy',
      reason: 'request_succeeded',
    });
    expect(state).toMatchObject({ usable: true, ejected: false });
  });

  it('lasts longer each time, up to a bound, and starts over if a request succeeds long after the last one', () => {
    const state = halfOpen();
    let nowMs = EJECTION_MS;
    for (let times = 2; times <= 13; times += 1) {
      expect(attempt(state, 'bad', nowMs)).toMatchObject({ reason: 'request_failed' });
      const lasts = EJECTION_MS * Math.min(times, MAX_EJECTION_FACTOR);
      expect(state.ejectedUntilMs).toBe(nowMs + lasts);
      expect(state.elapsed(nowMs + lasts - 1)).toBeUndefined();
      nowMs += lasts;
      expect(state.elapsed(nowMs)).toMatchObject({ to: 'half_open' });
    }
    attempt(state, 'good', nowMs);
    nowMs += EJECTIONS_FORGOTTEN_MS + 1;
    expect(state.hasNoDoubt).toBe(false);
    attempt(state, 'good', nowMs);
    expect(state.hasNoDoubt).toBe(true);
    fail(state, CONSECUTIVE_FAILURES, nowMs);
    expect(state.ejectedUntilMs).toBe(nowMs + EJECTION_MS);
  });

  it('ends after its time by good checks if no request tries the upstream', () => {
    const state = new UpstreamState();
    check(state, true);
    fail(state, CONSECUTIVE_FAILURES);
    // Only checks after its time count, so that a request comes first if there is any.
    check(state, true, true, true);
    expect(state.elapsed(EJECTION_MS)).toMatchObject({ to: 'half_open' });
    expect(state.unsettled).toBeUndefined();
    expect(check(state, true)).toBeUndefined();
    expect(state.unsettled).toBe('good');
    expect(check(state, true)).toEqual({
      from: 'half_open',
      to: 'healthy',
      reason: 'check_passed',
    });
    expect(state).toMatchObject({ usable: true, ejected: false, idle: true });
    attempt(state, 'good');
    expect(state.idle).toBe(false);
  });

  it('does not end by good checks while a request tries the upstream', () => {
    const state = halfOpen();
    const probe = state.begin();
    check(state, true, true, true);
    expect(state.name).toBe('half_open');
    expect(state.ended('bad', probe, YES, EJECTION_MS)).toMatchObject({ to: 'ejected' });
  });

  it('lasts longer the next time until a request has succeeded long after it, however many checks pass', () => {
    const state = halfOpen();
    let nowMs = EJECTION_MS;
    for (let times = 2; times <= 4; times += 1) {
      for (let good = 0; good < 2; good += 1) state.checked('good', THRESHOLDS, nowMs);
      expect(state.name).toBe('healthy');
      nowMs += EJECTIONS_FORGOTTEN_MS * 2;
      fail(state, CONSECUTIVE_FAILURES, nowMs);
      expect(state.ejectedUntilMs).toBe(nowMs + EJECTION_MS * times);
      state.elapsed((nowMs += EJECTION_MS * times));
    }
    for (let good = 0; good < 2; good += 1) state.checked('good', THRESHOLDS, nowMs);
    attempt(state, 'good', nowMs + EJECTIONS_FORGOTTEN_MS - 1);
    expect(state.hasNoDoubt).toBe(false);
    attempt(state, 'good', nowMs + EJECTIONS_FORGOTTEN_MS);
    expect(state.hasNoDoubt).toBe(true);
    fail(state, CONSECUTIVE_FAILURES, nowMs + EJECTIONS_FORGOTTEN_MS);
    expect(state.ejectedUntilMs).toBe(nowMs + EJECTIONS_FORGOTTEN_MS + EJECTION_MS);
  });

  it('ends early after good checks if a missing connection was the reason', () => {
    const state = new UpstreamState();
    check(state, true, true, true);
    fail(state, CONSECUTIVE_FAILURES, 0, 'unreachable');
    expect(check(state, true)).toBeUndefined();
    expect(check(state, true)).toEqual({ from: 'ejected', to: 'healthy', reason: 'check_passed' });
  });

  it('does not end early a second time unless a check has failed, so that it does not alternate quickly', () => {
    const state = new UpstreamState();
    check(state, true, true, true);
    fail(state, CONSECUTIVE_FAILURES, 0, 'unreachable');
    check(state, true, true);
    expect(state.name).toBe('healthy');
    fail(state, CONSECUTIVE_FAILURES, 0, 'unreachable');
    check(state, true, true, true);
    expect([state.name, state.ejectedUntilMs]).toEqual(['ejected', 2 * EJECTION_MS]);
    check(state, false, true, true);
    expect(state.name).toBe('healthy');
  });

  it('does not end early after good checks if responses were the reason, unless a check has failed since', () => {
    const state = new UpstreamState();
    check(state, true);
    fail(state, CONSECUTIVE_FAILURES, 0, 'bad');
    check(state, true, true, true, true);
    expect(state.name).toBe('ejected');
    check(state, false, true);
    expect(state.name).toBe('ejected');
    expect(check(state, true)).toMatchObject({ to: 'healthy' });
  });
});

describe('any sequence of events', () => {
  type Event =
    | { kind: 'begin' }
    | { kind: 'end'; verdict: CountedVerdict; pick: number }
    | { kind: 'check'; verdict: CheckVerdict }
    | { kind: 'time'; ms: number };
  const verdict = fc.constantFrom<CountedVerdict>('good', 'bad', 'unreachable', 'nothing');
  const checkVerdict = fc.constantFrom<CheckVerdict>('good', 'bad', 'unreachable');
  const event: fc.Arbitrary<Event> = fc.oneof(
    fc.constant<Event>({ kind: 'begin' }),
    fc.record({ kind: fc.constant('end' as const), verdict, pick: fc.nat(20) }),
    fc.record({ kind: fc.constant('check' as const), verdict: checkVerdict }),
    fc.record({ kind: fc.constant('time' as const), ms: fc.nat(60_000) }),
  );

  it('has one probe at a time, reports each change of state, and never uses an ejected upstream', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 200 }), (events) => {
        const state = new UpstreamState();
        const running: number[] = [];
        let probe = 0;
        let nowMs = 0;
        let reported = state.name;
        for (const one of events) {
          let transition;
          if (one.kind === 'begin') {
            const begun = state.begin();
            if (begun !== 0) {
              expect(running).not.toContain(probe);
              probe = begun;
            }
            running.push(begun);
          }
          if (one.kind === 'check') transition = state.checked(one.verdict, THRESHOLDS, nowMs);
          else if (one.kind === 'time') transition = state.elapsed((nowMs += one.ms));
          else if (one.kind === 'end') {
            const [ending] = running.splice(one.pick % Math.max(1, running.length), 1);
            if (ending === undefined) continue;
            transition = state.ended(one.verdict, ending, YES, nowMs);
          }
          if (transition !== undefined) {
            expect(transition.from).toBe(reported);
            expect(HEALTH_AFTER[transition.reason]).toContain(transition.to);
            reported = transition.to;
            if (reported === 'half_open') probe = 0;
          }
          expect(state.name).toBe(reported);
          if (state.name === 'unhealthy' || state.name === 'ejected') {
            expect(state.usable).toBe(false);
          }
          if (state.name === 'half_open')
            expect(state.usable).toBe(!running.includes(probe) || probe === 0);
          if (state.name === 'healthy' || state.name === 'unknown') expect(state.usable).toBe(true);
        }
      }),
    );
  });
});
