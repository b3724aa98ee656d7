import { describe, expect, it } from '@jest/globals';
import { fuzzSettings, openFuzz } from '@gateway/shared/test/fuzz';
import fc from 'fast-check';
import { isBelow } from '@gateway/shared/definitions/route-match';
import { parseProxyTarget, upstreamPath } from '../request/proxy-path.ts';
import { resolved, writtenReference } from '../../test/written-references.ts';
import { mapReference } from './map-reference.ts';
import { routeAddresses, type RouteAddresses, type ServiceAddress } from './route-addresses.ts';

interface World {
  /** The base path of the upstream that answers, and of another one of its service. */
  readonly basePath: string;
  readonly otherPath: string;
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly byName: boolean;
  /** What the upstream writes. */
  readonly reference: string;
}

const REQUEST = '/a/b?c';
const { kept, seed, runs } = openFuzz<World>(
  new URL('map-reference.kept.json', import.meta.url),
  2000,
);

const upstreamAt = (host: string, basePath: string): ServiceAddress => {
  return { origin: `http://${host}`, host, basePath };
};

const addressesOf = ({ basePath, otherPath, scheme, host, byName }: World): RouteAddresses => {
  const prefix = byName ? '/v1/proxy/test' : '';
  const answering = upstreamAt('up.test:8080', basePath);
  const service = [answering, upstreamAt('other.test', otherPath)];
  return routeAddresses({ scheme, authority: host, prefix }, service);
};

const world: fc.Arbitrary<World> = fc.record({
  basePath: fc.constantFrom('', '/api', '/v1/proxy/test', '/v1/proxy/test/api', '/v1', '/a%20b'),
  otherPath: fc.constantFrom('', '/api', '/v2'),
  scheme: fc.constantFrom('http', 'https'),
  host: fc.constantFrom('gw.test', 'gw.test:8080', 'GW.test'),
  byName: fc.boolean(),
  reference: writtenReference.map((text) => text.replaceAll('{up}', 'up.test:8080')),
});

/** The path of the upstream to which a request of the caller for this URL goes; undefined: it goes elsewhere. */
function reached(url: URL, { byName }: World, basePath: string): string | undefined {
  if (!byName) return upstreamPath(basePath, { subPath: url.pathname, query: url.search });
  const { routeName, subPath, query } = parseProxyTarget(url.pathname, url.search);
  return routeName === 'test' ? upstreamPath(basePath, { subPath, query }) : undefined;
}

/** The base path without and with a slash at its end is one path here: a caller cannot ask for an empty path. */
const comparable = (path: string | undefined, basePath: string) =>
  path?.replace(new RegExp(`^${basePath}(?=$|[?])`), `${basePath}/`);

describe('a mapped reference', () => {
  it('leads the caller to what the reference of the upstream leads to, and every other one stays', () => {
    fc.assert(
      fc.property(world, (given) => {
        const addresses = addressesOf(given);
        const { reference, scheme, host, byName, basePath, otherPath } = given;
        const mapped = mapReference(reference, addresses);
        const caller = `${scheme}://${host}${byName ? '/v1/proxy/test' : ''}`;
        const meant = resolved(reference, addresses.origin + basePath + REQUEST);
        const isRelative = !/^(?:https?:)?[/\\]/i.test(reference.replaceAll('\t', '').trim());
        const callerOrigin = new URL(caller).origin;
        const maybeOwn = ['http://up.test:8080', 'http://other.test', 'https://up.test:8080'];
        maybeOwn.push('https://other.test', callerOrigin, callerOrigin.replace('https:', 'http:'));
        if (meant === null || isRelative || !maybeOwn.includes(meant.origin)) {
          expect(mapped).toBe(reference);
          return;
        }
        const bases = new Map([
          ['http://up.test:8080', basePath],
          ['http://other.test', otherPath],
        ]);
        const base = bases.get(meant.origin);
        if (base === undefined || !isBelow(meant.pathname, base)) return;
        // This is taken for an address of the caller.
        if (byName && isBelow(meant.pathname, '/v1/proxy/test') && base.length < 14) return;
        const led = resolved(mapped, caller + REQUEST);
        expect(led?.origin).toBe(callerOrigin);
        expect(led?.hash).toBe(meant.hash);
        const subPath = meant.pathname.slice(base.length);
        const path = upstreamPath(base, { subPath, query: meant.search });
        expect(comparable(led === null ? '' : reached(led, given, base), base)).toBe(
          comparable(path, base),
        );
      }),
      fuzzSettings({ kept, seed, runs }),
    );
  });
});
