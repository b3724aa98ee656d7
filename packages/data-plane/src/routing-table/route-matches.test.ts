import { describe, expect, it } from '@jest/globals';
import { conditionsOf, type RouteMatch } from '@gateway/shared/definitions/route-match';
import { runAtOnce } from '@gateway/shared/pace';
import fc from 'fast-check';
import type { MatchedRoute } from './match-layers.ts';
import { RouteMatches } from './route-matches.ts';

interface Asked {
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Few of each, so that they overlap. */
const segment = fc.constantFrom('a', 'b', 'ab');
const pathOf = (max: number) =>
  fc.array(segment, { maxLength: max }).map((segments) => `/${segments.join('/')}`);
const host = fc.constantFrom('x.y.z', 'y.z', 'w.x.y.z', 'z');
const pattern = fc.oneof(host, fc.constantFrom('*.y.z', '*.z', '*.x.y.z'));
const matchedPath = fc.oneof(
  pathOf(3).map((exact) => ({ exact })),
  pathOf(3).map((prefix) => ({ prefix })),
);
const header = fc.record({ name: fc.constantFrom('A', 'b'), value: fc.constantFrom('1', '2') });
const match: fc.Arbitrary<RouteMatch> = fc.record({
  hosts: fc.uniqueArray(pattern, { maxLength: 2 }),
  paths: fc.array(matchedPath, { maxLength: 2 }),
  headers: fc.uniqueArray(header, { maxLength: 2, selector: ({ name }) => name }),
});
const routesOf = fc
  .array(fc.array(match, { maxLength: 3 }), { maxLength: 6 })
  .map((all) =>
    all.map((one, at): MatchedRoute => ({ id: `rte_${at}`, name: `r${at}`, match: one })),
  );
const asked: fc.Arbitrary<Asked> = fc.record({
  host: fc.oneof(host, fc.constantFrom('', 'other', 'y.z.other')),
  path: fc.oneof(
    pathOf(5),
    pathOf(3).map((path) => `${path}/`),
  ),
  headers: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2', '3')),
});

const built = (routes: readonly MatchedRoute[]) => runAtOnce(RouteMatches.of(routes));

function found(matches: RouteMatches, { host, path, headers }: Asked): string | undefined {
  return matches.find(host, path, (name) => headers[name])?.routeName;
}

/** The routes that a request with these names of headers may reach, in no order. */
function possible(matches: RouteMatches, { host, path, headers }: Asked): string[] | undefined {
  return matches.findAll(host, path, (name) => name in headers)?.toSorted();
}

/** The rules as the documentation states them, one after the other. */
function naive(
  routes: readonly MatchedRoute[],
  { host, path, headers }: Asked,
): string | undefined {
  const ways = routes.flatMap(({ name, match }) =>
    match.flatMap((one) => [...conditionsOf(one)].map((way) => ({ name, ...way }))),
  );
  const met = ways.filter((way) => {
    const meetsHost =
      way.host === '' ||
      way.host === host ||
      (way.host.startsWith('*.') && host.endsWith(way.host.slice(1)));
    const meetsPath =
      path === way.path || (!way.isExact && (way.path === '/' || path.startsWith(`${way.path}/`)));
    return meetsHost && meetsPath && way.headers.every(([name, value]) => headers[name] === value);
  });
  const rank = (way: (typeof ways)[number]) => [
    way.host === host ? 0 : 1,
    -way.host.length,
    way.isExact ? 0 : 1,
    -way.path.length,
    -way.headers.length,
  ];
  const [best] = met.toSorted((a, b) => {
    const [one, other] = [rank(a), rank(b)];
    const at = one.findIndex((value, index) => value !== other[index]);
    if (at === -1) return a.name < b.name ? -1 : 1;
    return (one[at] ?? 0) - (other[at] ?? 0);
  });
  return best?.name;
}

describe('the route of a host, a path and header fields', () => {
  it('is the one that the rules name', () => {
    fc.assert(
      fc.property(routesOf, fc.array(asked, { minLength: 1, maxLength: 20 }), (routes, all) => {
        const matches = built(routes);
        for (const one of all) {
          // A host that is empty names nothing, as the search for ways without a host does.
          expect(found(matches, one)).toBe(naive(routes, one));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is the same after any changes as if all routes were read at once', () => {
    const change = fc.record({
      at: fc.nat(4),
      match: fc.option(fc.array(match, { maxLength: 3 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 12 }),
        fc.array(asked, { minLength: 1, maxLength: 10 }),
        (changes, all) => {
          const routes = new Map<string, MatchedRoute>();
          let matches = RouteMatches.NONE;
          for (const { at, match: ways } of changes) {
            const id = `rte_${at}`;
            const before = routes.get(id);
            const after = ways && { id, name: `r${at}`, match: ways };
            matches = matches.with(
              before === undefined ? [] : [before],
              after === undefined ? [] : [after],
            );
            if (after === undefined) routes.delete(id);
            else routes.set(id, after);
          }
          const fresh = built([...routes.values()]);
          for (const one of all) {
            expect(found(matches, one)).toBe(found(fresh, one));
            expect(possible(matches, one)).toEqual(possible(fresh, one));
            expect(matches.claims(one.host)).toBe(fresh.claims(one.host));
          }
          expect([matches.isEmpty, matches.hasEveryHost]).toEqual([
            fresh.isEmpty,
            fresh.hasEveryHost,
          ]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is one of those that the names of its header fields allow, and none else if there is one', () => {
    fc.assert(
      fc.property(routesOf, fc.array(asked, { minLength: 1, maxLength: 20 }), (routes, all) => {
        const matches = built(routes);
        for (const one of all) {
          const names = Object.keys(one.headers);
          const values = ['1', '2', '3'];
          const requests = names.reduce<Asked[]>(
            (made, name) =>
              made.flatMap((request) =>
                values.map((value) => ({
                  ...request,
                  headers: { ...request.headers, [name]: value },
                })),
              ),
            [{ ...one, headers: {} }],
          );
          const reached = new Set(requests.map((request) => found(matches, request)));
          reached.delete(undefined);
          const all = possible(matches, one);
          expect(all).toEqual(expect.arrayContaining([...reached]));
          if (names.length === 0) expect(all).toEqual([...reached]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is not searched among many that differ only in the values of a header field', () => {
    const routes = Array.from({ length: 20 }, (_none, at) => ({
      id: `rte_${at}`,
      name: `r${at}`,
      match: [{ hosts: [], paths: [], headers: [{ name: 'a', value: String(at) }] }],
    }));
    const one = { host: 'a.example', path: '/x', headers: { a: '' } };
    expect(possible(built(routes.slice(0, 16)), one)).toHaveLength(16);
    expect(possible(built(routes), one)).toBeUndefined();
  });

  it('is never one without a host below the paths that the gateway serves itself', () => {
    const matches = built([
      { id: 'rte_1', name: 'all', match: [{ hosts: [], paths: [{ prefix: '/' }], headers: [] }] },
    ]);
    const names = ['/v1/routes', '/v1', '/console', '/docs/a', '/v10', '/'].map((path) =>
      found(matches, { host: 'a.example', path, headers: {} }),
    );
    expect(names).toEqual([undefined, undefined, undefined, undefined, 'all', 'all']);
  });

  it('is looked for in bounded time, however long the host and the path are', () => {
    const deep = `/${'a/'.repeat(400)}b`;
    const matches = built([
      {
        id: 'rte_1',
        name: 'deep',
        match: [{ hosts: ['*.z'], paths: [{ prefix: deep }], headers: [] }],
      },
      {
        id: 'rte_2',
        name: 'top',
        match: [{ hosts: ['*.z'], paths: [{ prefix: '/' }], headers: [] }],
      },
    ]);
    const long = { host: `${'a.'.repeat(30_000)}z`, path: '/', headers: {} };
    expect(found(matches, long)).toBeUndefined();
    expect(matches.claims(long.host)).toBe(false);
    expect(found(matches, { host: 'a.z', path: `/${'x'.repeat(60_000)}`, headers: {} })).toBe(
      'top',
    );
    expect(found(matches, { host: 'a.z', path: `${deep}/c`, headers: {} })).toBe('deep');
  });
});

it('finds the right one of more sets of header names than a control plane accepts', () => {
  const routes = Array.from({ length: 300 }, (_none, at): MatchedRoute => {
    const names = at % 2 === 0 ? [`h${at}`] : [`h${at}`, 'x'];
    const headers = names.map((name) => ({ name, value: '1' }));
    return { id: `rte_${at}`, name: `r${at}`, match: [{ hosts: ['a'], paths: [], headers }] };
  });
  const all = built(routes);
  const headersOf = (at: number) => ({ [`h${at}`]: '1', x: '1' });
  for (const at of [0, 1, 150, 299]) {
    expect(found(all, { host: 'a', path: '/', headers: headersOf(at) })).toBe(`r${at}`);
  }
  const both = { ...headersOf(2), ...headersOf(3) };
  expect(found(all, { host: 'a', path: '/', headers: both })).toBe('r3');
  const without = all.with(routes.slice(1, 299), []);
  expect(found(without, { host: 'a', path: '/', headers: both })).toBeUndefined();
  expect(found(without, { host: 'a', path: '/', headers: headersOf(299) })).toBe('r299');
});
