import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CLOCK_SKEW_MS, decideKey, type KeyUse } from './decide-key.ts';
import type { EntryHead } from './store/entry.ts';

const NOW = 1_000_000_000;
const OWN = 'a'.repeat(64);
const OTHER = 'b'.repeat(64);

const known = fc.record({
  fingerprint: fc.constantFrom(OWN, OTHER),
  request_id: fc.constant('req_first'),
  claim_id: fc.constant('claim'),
  expires_at_ms: fc.integer({ min: NOW - 10_000, max: NOW + 10_000 }),
});
const heads: fc.Arbitrary<EntryHead> = fc.oneof(
  fc
    .tuple(known, fc.integer({ min: NOW - 10_000, max: NOW + 10_000 }))
    .map(([rest, until]) => ({ ...rest, state: 'claimed' as const, lease_until_ms: until })),
  known.map((rest) => ({ ...rest, state: 'unknown' as const })),
  fc.tuple(known, fc.boolean(), fc.constantFrom(undefined, 429)).map(([rest, isKept, status]) => ({
    ...rest,
    state: 'done' as const,
    key_id: 'k1',
    body_kept: isKept,
    parts: 0,
    repeatable_status: status,
  })),
);
const uses: fc.Arbitrary<KeyUse> = fc.record({
  fingerprint: fc.constant(OWN),
  nowMs: fc.constant(NOW),
  onUnknown: fc.constantFrom('refuse', 'forward'),
  stable: fc.boolean(),
  waited: fc.boolean(),
});

const leased = (head: EntryHead, { stable }: KeyUse) =>
  head.state === 'claimed' && (!stable || NOW <= head.lease_until_ms + CLOCK_SKEW_MS);
const repeatable = (head: EntryHead) =>
  head.state === 'done' && head.repeatable_status !== undefined;
const over = (head: EntryHead, use: KeyUse) => !leased(head, use) && NOW >= head.expires_at_ms;

function holds(check: (head: EntryHead, use: KeyUse) => void): void {
  fc.assert(
    fc.property(heads, uses, (head, use) => check(head, use)),
    { numRuns: 2000 },
  );
}

describe('decideKey', () => {
  it('claims a key that has no entry', () => {
    fc.assert(
      fc.property(uses, (use) => {
        expect(decideKey(undefined, use)).toEqual({ kind: 'claim', after: 'nothing' });
      }),
    );
  });

  it('never lets a request run while the lease of another is valid', () => {
    holds((head, use) => {
      if (leased(head, use)) expect(decideKey(head, use).kind).not.toBe('claim');
    });
  });

  it('never repeats a request that may have been sent before the key expires, unless the route allows it', () => {
    holds((head, use) => {
      const decision = decideKey(head, use);
      if (over(head, use) || decision.kind !== 'claim') return;
      expect(head.fingerprint).toBe(use.fingerprint);
      if (repeatable(head)) return;
      expect(use.onUnknown).toBe('forward');
      expect(head.state).not.toBe('done');
      expect(decision.after).toBe('unknown');
    });
  });

  it('refuses another request with the same key in every state, until the key expires', () => {
    holds((head, use) => {
      const refused = !over(head, use) && head.fingerprint !== use.fingerprint;
      const isConflict = { kind: 'refuse', why: 'conflict' };
      if (refused) expect(decideKey(head, use)).toEqual(isConflict);
      else expect(decideKey(head, use)).not.toEqual(isConflict);
    });
  });

  it('repeats a request that had no effect, unless it has waited for the response that is stored', () => {
    holds((head, use) => {
      if (!repeatable(head) || over(head, use) || head.fingerprint !== use.fingerprint) return;
      const isAnswered = use.waited && head.state === 'done' && head.body_kept;
      expect(decideKey(head, use)).toEqual(
        isAnswered ? { kind: 'replay' } : { kind: 'claim', after: 'repeatable' },
      );
    });
  });

  it('replays only what is done, and waits only for what runs', () => {
    holds((head, use) => {
      const { kind } = decideKey(head, use);
      if (kind === 'replay') expect(head.state).toBe('done');
      if (kind === 'wait') expect(leased(head, use)).toBe(true);
      if (head.fingerprint !== use.fingerprint || over(head, use)) return;
      if (!repeatable(head)) expect(kind === 'replay').toBe(head.state === 'done');
      expect(kind === 'wait').toBe(leased(head, use));
    });
  });

  it.each([
    ['refuse', { kind: 'refuse', why: 'outcome_unknown' }],
    ['forward', { kind: 'claim', after: 'unknown' }],
  ] as const)('follows the route if the outcome is unknown: %s', (onUnknown, expected) => {
    const rest = {
      fingerprint: OWN,
      request_id: 'r',
      claim_id: 'c',
      expires_at_ms: NOW + 1,
    };
    const use = { fingerprint: OWN, nowMs: NOW, onUnknown, stable: true, waited: false };
    const lapsed = { ...rest, state: 'claimed' as const };
    const leaseMs = NOW - CLOCK_SKEW_MS;
    expect(decideKey({ ...rest, state: 'unknown' }, use)).toEqual(expected);
    expect(decideKey({ ...lapsed, lease_until_ms: leaseMs - 1 }, use)).toEqual(expected);
    expect(decideKey({ ...lapsed, lease_until_ms: leaseMs }, use)).toEqual({ kind: 'wait' });
    const unsteady = { ...use, stable: false };
    expect(decideKey({ ...lapsed, lease_until_ms: leaseMs - 1 }, unsteady)).toEqual({
      kind: 'wait',
    });
  });
});
