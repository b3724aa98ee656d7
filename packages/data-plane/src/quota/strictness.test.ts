import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { play, worlds, type QuotaWorld, type Step } from '../../test/quota/quota-world.ts';
import type { Fate } from '../../test/quota/model-ledger.ts';

const node = fc.nat(4);
const fate = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Fate>('answered') },
  { weight: 3, arbitrary: fc.constantFrom<Fate>('reply_lost', 'lost', 'late', 'refused') },
);
const take: fc.Arbitrary<Step> = fc.record({ kind: fc.constant('take'), node, count: fc.nat(9) });
const settle: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('settle'),
  index: fc.nat(9),
  fate,
});
const advance: fc.Arbitrary<Step> = fc.record({ kind: fc.constant('advance'), ms: fc.nat(300) });
const connected = [
  { weight: 6, arbitrary: take },
  { weight: 8, arbitrary: settle },
  { weight: 3, arbitrary: fc.constant<Step>({ kind: 'settle_all' }) },
  { weight: 3, arbitrary: advance },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'late' }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop' as const), node }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('restart' as const),
      node,
      folder: fc.boolean(),
      orderly: fc.boolean(),
    }),
  },
];
const limit: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('limit'),
  limit: fc.integer({ min: 1, max: 30 }),
});
const some = fc.oneof(node, fc.constant('all' as const));
const link: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('cut_off', 'reconnect'),
  node: some,
});

/** The ledger has a reserve of a data plane that does not know of it, and whose share grows with the limit. */
const RAISED_AFTER_LOST_ANSWERS: QuotaWorld = {
  nodes: 2,
  shares: true,
  limit: 1,
  windowMs: 1000,
  skewsMs: [0, 0, 0, 0, 0],
  steps: [
    { kind: 'take', node: 0, count: 1 },
    { kind: 'settle', index: 0, fate: 'answered' },
    { kind: 'settle', index: 0, fate: 'reply_lost' },
    { kind: 'settle', index: 0, fate: 'lost' },
    { kind: 'limit', limit: 6 },
    { kind: 'take', node: 1, count: 5 },
    { kind: 'take', node: 0, count: 3 },
    { kind: 'settle_all' },
  ],
};

/** A data plane that stores what it granted under the former limit is asked for what it does not need of the lower one. */
const ASKED_WHILE_STORING_A_DEBT: QuotaWorld = {
  nodes: 2,
  shares: true,
  limit: 6,
  windowMs: 1000,
  skewsMs: [0, 0, 0, 0, 0],
  steps: [
    { kind: 'take', node: 1, count: 3 },
    { kind: 'settle', index: 0, fate: 'reply_lost' },
    { kind: 'take', node: 0, count: 5 },
    { kind: 'limit', limit: 1 },
    { kind: 'advance', ms: 464 },
    { kind: 'settle_all' },
    { kind: 'take', node: 1, count: 1 },
    { kind: 'advance', ms: 36 },
    { kind: 'settle_all' },
  ],
};

/** The unanswered write has stored a smaller reserve than the data plane has, because little is left of the lowered limit. */
const SMALLER_RESERVE_IN_A_LOST_ANSWER: QuotaWorld = {
  nodes: 2,
  shares: true,
  limit: 12,
  windowMs: 1000,
  skewsMs: [0, 0, 0, 0, 0],
  steps: [
    { kind: 'take', node: 0, count: 1 },
    { kind: 'settle_all' },
    { kind: 'limit', limit: 7 },
    { kind: 'take', node: 1, count: 1 },
    { kind: 'settle', index: 0, fate: 'answered' },
    { kind: 'settle', index: 0, fate: 'reply_lost' },
    { kind: 'settle', index: 0, fate: 'lost' },
    { kind: 'limit', limit: 12 },
    { kind: 'take', node: 0, count: 10 },
    { kind: 'take', node: 1, count: 2 },
    { kind: 'settle_all' },
  ],
};

async function neverTooMany(world: QuotaWorld): Promise<void> {
  const { granted, limits } = await play(world);
  for (const [window, count] of granted) {
    expect(count).toBeLessThanOrEqual(limits.get(window) ?? 0);
  }
}

describe('quotas over several data planes', () => {
  it('never grant more than the limit in any window, with any lost or late messages, dead nodes and wrong clocks', async () => {
    const step = fc.oneof(...connected, { weight: 1, arbitrary: limit });
    await fc.assert(fc.asyncProperty(worlds(step, false), neverTooMany), { numRuns: 300 });
  });

  it('exceed a limit that is lowered, while some data planes still use their shares of the former one, by less than their number', async () => {
    const step = fc.oneof(...connected, { weight: 1, arbitrary: limit });
    const property = fc.asyncProperty(worlds(step), async (world) => {
      const { granted, limits } = await play(world);
      for (const [window, count] of granted) {
        // Each share is rounded down.
        expect(count).toBeLessThan((limits.get(window) ?? 0) + world.nodes);
      }
    });
    const examples: [QuotaWorld][] = [
      [RAISED_AFTER_LOST_ANSWERS],
      [ASKED_WHILE_STORING_A_DEBT],
      [SMALLER_RESERVE_IN_A_LOST_ANSWER],
    ];
    await fc.assert(property, { numRuns: 300, examples });
  });

  it('never grant more than the limit while data planes lose NATS and find it again, one or all, alive or killed', async () => {
    const many: fc.Arbitrary<Step> = fc.record({
      kind: fc.constant('take'),
      node,
      count: fc.nat(40),
    });
    const step = fc.oneof(
      ...connected,
      { weight: 3, arbitrary: many },
      { weight: 3, arbitrary: link },
    );
    await fc.assert(fc.asyncProperty(worlds(step), neverTooMany), { numRuns: 300 });
  });

  it('never grant more than the limit while the store refuses new entries, and when it accepts them again', async () => {
    const full: fc.Arbitrary<Step> = fc.record({ kind: fc.constant('full'), full: fc.boolean() });
    const pass: fc.Arbitrary<Step> = fc.record({
      kind: fc.constant('pass'),
      seconds: fc.integer({ min: 1, max: 6 }),
    });
    const step = fc.oneof(
      ...connected,
      { weight: 3, arbitrary: full },
      { weight: 1, arbitrary: pass },
      { weight: 1, arbitrary: link },
    );
    await fc.assert(fc.asyncProperty(worlds(step), neverTooMany), { numRuns: 200 });
  });

  it('never grant more than the limit while the store is unreachable', async () => {
    const lost: fc.Arbitrary<Step> = fc.record({
      kind: fc.constant('settle'),
      index: fc.nat(9),
      fate: fc.constantFrom('lost', 'refused'),
    });
    const step = fc.oneof(take, lost, advance);
    await fc.assert(fc.asyncProperty(worlds(step), neverTooMany), { numRuns: 200 });
  });
});
