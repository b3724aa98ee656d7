import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CompiledService, CompiledUpstream } from '../routing-table/routing-table.ts';
import { ServiceBalancer } from '../upstream/health/service-balancer.ts';
import { UpstreamState } from '../upstream/health/upstream-state.ts';
import { KnownAffinity } from './known-affinity.ts';
import { SessionSuffixes } from './session-suffixes.ts';

const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31);
process.stdout.write(`rendezvous: FUZZ_SEED=${SEED}\n`);
const SETTINGS = { seed: SEED, numRuns: 30 };

const CALLERS = Array.from({ length: 2000 }, (_none, at) => `caller-${at}`);
const NONE: ReadonlySet<number> = new Set();
const POLICY = { by: 'header', name: 'x-session', retryElsewhere: true } as const;
const SUFFIXES = new SessionSuffixes([]);

interface Given {
  readonly id: string;
  readonly weight: number;
  readonly region?: string | null;
  readonly isLost?: boolean;
  readonly isNew?: boolean;
}

/** The id of the upstream of each caller, on a data plane in the region eu. */
function chosenOf(
  upstreams: readonly Given[],
  callers: readonly string[] = CALLERS,
  { regions = [] as readonly string[], tried = NONE } = {},
): string[] {
  const service = { upstreams: upstreams.map((one) => ({ region: null, ...one })) };
  const states = upstreams.map(({ isLost = false, isNew = false }) => {
    const state = new UpstreamState();
    state.usable = !isLost;
    if (isNew) state.slowStartSinceMs = 0;
    return state;
  });
  const balancer = new ServiceBalancer(
    service as unknown as CompiledService,
    states,
    { region: 'eu', load: { inFlight: () => 0 }, random: () => 0 },
    () => undefined,
    () => 0,
  );
  return callers.map((caller) => {
    const affinity = new KnownAffinity(POLICY, { caller }, SUFFIXES);
    const index = affinity.choose(balancer, regions, tried, tried.size === 0 ? -1 : 0);
    return (balancer.service.upstreams[index] as CompiledUpstream).id;
  });
}

const upstreams = fc.uniqueArray(
  fc.record({
    id: fc.stringMatching(/^ups_[0-9a-hjkmnp-tv-z]{26}$/),
    weight: fc.integer({ min: 1, max: 1000 }),
  }),
  { selector: ({ id }) => id, minLength: 2, maxLength: 12 },
);
const withOne = upstreams.chain((all) =>
  fc.record({ all: fc.constant(all), one: fc.nat(all.length - 1) }),
);

function expectOnlyItsOwnMove(before: readonly string[], after: readonly string[], lost: string) {
  before.forEach((id, at) => {
    if (id === lost) expect(after[at]).not.toBe(lost);
    else expect(after[at]).toBe(id);
  });
}

describe('the upstream of a caller', () => {
  it('is another one for the callers of an upstream that is lost, and for nobody else', () => {
    fc.assert(
      fc.property(withOne, ({ all, one }) => {
        const lost = all[one]?.id ?? '';
        const before = chosenOf(all);
        const unhealthy = all.map((upstream) => ({ ...upstream, isLost: upstream.id === lost }));
        const whileLost = chosenOf(unhealthy);
        expectOnlyItsOwnMove(before, whileLost, lost);
        // Those that move are where they would be without it.
        expect(chosenOf(all.filter(({ id }) => id !== lost))).toEqual(whileLost);
      }),
      SETTINGS,
    );
  });

  it('is the same for any order of the upstreams', () => {
    fc.assert(
      fc.property(upstreams, (all) => {
        const sorted = all.toSorted((a, b) => (a.id < b.id ? -1 : 1));
        expect(chosenOf(sorted)).toEqual(chosenOf(all));
        expect(chosenOf(all.toReversed())).toEqual(chosenOf(all));
      }),
      SETTINGS,
    );
  });

  it('has the share of its weight', () => {
    fc.assert(
      fc.property(upstreams, (all) => {
        const chosen = chosenOf(all);
        const sum = all.reduce((total, { weight }) => total + weight, 0);
        for (const { id, weight } of all) {
          // Six standard deviations of a fair draw, and ten callers for the rarest upstream.
          const share = weight / sum;
          const spread = Math.sqrt((share * (1 - share)) / CALLERS.length);
          const part = chosen.filter((one) => one === id).length / CALLERS.length;
          expect(Math.abs(part - share)).toBeLessThanOrEqual(6 * spread + 10 / CALLERS.length);
        }
      }),
      SETTINGS,
    );
  });

  it('changes only for those who come to an upstream whose weight is raised', () => {
    fc.assert(
      fc.property(withOne, ({ all, one }) => {
        const raised = all.map((upstream, at) => {
          return at === one ? { ...upstream, weight: upstream.weight * 3 } : upstream;
        });
        const after = chosenOf(raised);
        chosenOf(all).forEach((id, at) => {
          if (after[at] !== id) expect(after[at]).toBe(all[one]?.id);
        });
      }),
      SETTINGS,
    );
  });

  it('is one of the region that would be chosen without affinity', () => {
    const far = [
      { id: 'ups_us', weight: 1000, region: 'us' },
      { id: 'ups_asia', weight: 1000, region: 'asia' },
    ];
    const own = { id: 'ups_eu', weight: 1, region: 'eu' };
    const options = { regions: ['asia'] };
    expect(new Set(chosenOf([...far, own], CALLERS, options))).toEqual(new Set(['ups_eu']));
    const lost = { ...own, isLost: true };
    expect(new Set(chosenOf([...far, lost], CALLERS, options))).toEqual(new Set(['ups_asia']));
    // Without any healthy upstream they are all tried.
    const none = [...far, own].map((upstream) => ({ ...upstream, isLost: true }));
    expect(new Set(chosenOf(none, CALLERS, options)).size).toBe(3);
  });

  it('does not depend on slow start, which data planes see at different times', () => {
    const all = ['ups_a', 'ups_b', 'ups_c'].map((id) => ({ id, weight: 1 }));
    const isNew = (id: string) => id === 'ups_a';
    expect(chosenOf(all.map((one) => ({ ...one, isNew: isNew(one.id) })))).toEqual(chosenOf(all));
  });

  it('is the next one by score for a retry that may leave it', () => {
    const all = ['ups_a', 'ups_b', 'ups_c'].map((id) => ({ id, weight: 1 }));
    const first = chosenOf(all);
    const next = chosenOf(all, CALLERS, { tried: new Set([0]) });
    expectOnlyItsOwnMove(first, next, 'ups_a');
  });
});
