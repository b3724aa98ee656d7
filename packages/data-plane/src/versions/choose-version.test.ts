import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hashText } from '../routing-table/hash-text.ts';
import { chooseVersion } from './choose-version.ts';
import type { CompiledVersion } from '../routing-table/routing-table.ts';

const SERVICE = {
  id: 'svc_1',
  name: 'pay',
  upstreams: [],
  credential: undefined,
  healthCheck: {
    path: '/',
    intervalMs: 1,
    timeoutMs: 1,
    healthyThreshold: 1,
    unhealthyThreshold: 1,
  },
  protocol: 'http1' as const,
  websocketProtocol: 'http1' as const,
  sendVia: false,
  limits: {
    maxInFlight: undefined,
    maxConnections: undefined,
    maxPending: undefined,
    adaptive: false,
  },
};

/** The compiled versions of a route, from their weights by name. */
function versionsOf(weights: Readonly<Record<string, number>>, route = 'rte_1'): CompiledVersion[] {
  return Object.entries(weights).map(([name, weight]) => {
    return { name, service: SERVICE, weight, seed: hashText(`${route} ${name}`) };
  });
}

function chosen(versions: readonly CompiledVersion[], subject: string): string {
  const version = chooseVersion(versions, subject);
  if (version?.name === undefined) throw new Error(`${subject} got no version`);
  return version.name;
}

const SUBJECTS = Array.from({ length: 10_000 }, (_none, index) => `tok_${index}`);

/** The share of callers of each version. */
function shares(versions: readonly CompiledVersion[], subjects = SUBJECTS): Map<string, number> {
  const counts = new Map<string, number>();
  for (const subject of subjects) {
    const name = chosen(versions, subject);
    counts.set(name, (counts.get(name) ?? 0) + 1 / subjects.length);
  }
  return counts;
}

const anyWeights = fc
  .uniqueArray(fc.stringMatching(/^[a-z0-9._-]{1,10}$/), { minLength: 1, maxLength: 16 })
  .chain((names) =>
    fc
      .array(fc.integer({ min: 0, max: 1000 }), {
        minLength: names.length,
        maxLength: names.length,
      })
      .filter((weights) => weights.some((weight) => weight > 0))
      .map((weights) => Object.fromEntries(names.map((name, at) => [name, weights[at] ?? 0]))),
  );

describe('the version that a caller gets', () => {
  it('splits 10 000 callers 90 to 10 within 1.5 %', () => {
    const counts = shares(versionsOf({ v1: 90, v2: 10 }));
    expect(Math.abs((counts.get('v1') ?? 0) - 0.9)).toBeLessThan(0.015);
    expect(Math.abs((counts.get('v2') ?? 0) - 0.1)).toBeLessThan(0.015);
  });

  it('splits callers by any weights, whatever their names are', () => {
    const subjectOf = fc.constantFrom(
      (at: number) => `10.0.${at >> 8}.${at & 255}`,
      (at: number) => `2001:db8::${at.toString(16)}`,
      (at: number) => `jwt:user-${at}@example.com`,
      (at: number) => String(at),
    );
    fc.assert(
      fc.property(
        anyWeights,
        subjectOf,
        fc.stringMatching(/^rte_[0-9a-z]{26}$/),
        (weights, nameOf, route) => {
          const subjects = SUBJECTS.map((_none, index) => nameOf(index));
          const counts = shares(versionsOf(weights, route), subjects);
          const sum = Object.values(weights).reduce((total, weight) => total + weight, 0);
          for (const [name, weight] of Object.entries(weights)) {
            // Six standard deviations of a fair draw, and ten callers for the rarest version.
            const share = weight / sum;
            const bound =
              6 * Math.sqrt((share * (1 - share)) / subjects.length) + 10 / subjects.length;
            expect(Math.abs((counts.get(name) ?? 0) - share)).toBeLessThanOrEqual(bound);
          }
        },
      ),
      { numRuns: 20 },
    );
  });

  it('is the same every time and for any order of the versions', () => {
    fc.assert(
      fc.property(anyWeights, fc.string(), (weights, subject) => {
        const versions = versionsOf(weights);
        expect(chosen(versions.toReversed(), subject)).toBe(chosen(versions, subject));
      }),
    );
  });

  it('moves callers only to the version whose weight is raised', () => {
    fc.assert(
      fc.property(
        anyWeights,
        fc.nat(),
        fc.integer({ min: 1, max: 1000 }),
        fc.string(),
        (weights, at, more, subject) => {
          const names = Object.keys(weights);
          const raised = names[at % names.length] ?? '';
          const before = chosen(versionsOf(weights), subject);
          const changed = { ...weights, [raised]: (weights[raised] ?? 0) + more };
          expect([before, raised]).toContain(chosen(versionsOf(changed), subject));
          if (before === raised) expect(chosen(versionsOf(changed), subject)).toBe(raised);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('moves as few callers as possible when a canary grows', () => {
    const before = versionsOf({ v1: 90, v2: 10 });
    const after = versionsOf({ v1: 70, v2: 30 });
    const moved = SUBJECTS.filter((subject) => chosen(before, subject) !== chosen(after, subject));
    expect(Math.abs(moved.length / SUBJECTS.length - 0.2)).toBeLessThan(0.015);
    expect(new Set(moved.map((subject) => chosen(after, subject)))).toEqual(new Set(['v2']));
  });

  it('never has weight 0', () => {
    fc.assert(
      fc.property(anyWeights, fc.string(), (weights, subject) => {
        expect(weights[chosen(versionsOf(weights), subject)]).toBeGreaterThan(0);
      }),
    );
  });

  it('differs between routes, so that the same callers are not first everywhere', () => {
    const one = versionsOf({ v1: 1, v2: 1 }, 'rte_1');
    const other = versionsOf({ v1: 1, v2: 1 }, 'rte_2');
    const same = SUBJECTS.filter((subject) => chosen(one, subject) === chosen(other, subject));
    expect(Math.abs(same.length / SUBJECTS.length - 0.5)).toBeLessThan(0.025);
  });
});
