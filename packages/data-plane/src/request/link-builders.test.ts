import { expect, it } from '@jest/globals';
import { rewriteField } from '@gateway/shared/definitions/route-rewrite';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall } from '@gateway/shared/test/raw-client';
import { startUpstream, type SeenRequest } from '@gateway/shared/test/upstream';
import { startTestDataPath } from '../../test/data-path.ts';

const opened = closeAfterEach();

/** How servers make the address of one of their paths, from a request that they got. */
const BUILDERS: readonly [string, (path: string, headers: SeenRequest['headers']) => string][] = [
  ['a path', (path) => path],
  ['its Host (tusd, Express)', (path, { host }) => `http://${host}${path}`],
  [
    'its Host and X-Forwarded-Proto (Django)',
    (path, { host, 'x-forwarded-proto': proto }) => `${String(proto)}://${host}${path}`,
  ],
  [
    'X-Forwarded-Host and -Proto (docker-registry, tusd behind a proxy)',
    (path, { 'x-forwarded-host': host, 'x-forwarded-proto': proto }) =>
      `${String(proto)}://${String(host)}${path}`,
  ],
  [
    'X-Forwarded-Host alone',
    (path, { 'x-forwarded-host': host }) => `http://${String(host)}${path}`,
  ],
  [
    'X-Forwarded-Host, -Proto and -Port (Rack)',
    (path, { 'x-forwarded-host': host, 'x-forwarded-proto': proto, 'x-forwarded-port': port }) =>
      `${String(proto)}://${String(host).replace(/:\d+$/, '')}:${String(port)}${path}`,
  ],
  [
    'X-Forwarded-Prefix before its path (Flask, ASP.NET)',
    (path, { 'x-forwarded-prefix': prefix = '' }) => `${String(prefix)}${path}`,
  ],
  [
    'X-Forwarded-Prefix in place of the path of its own (Spring)',
    (path, headers) => {
      const { 'x-forwarded-host': host, 'x-forwarded-proto': proto } = headers;
      const { 'x-forwarded-prefix': prefix } = headers;
      const own = prefix === undefined ? path : `${String(prefix)}${path.slice('/app'.length)}`;
      return `${String(proto)}://${String(host)}${own}`;
    },
  ],
];

const onHost = (prefix: string): SnapshotRoute['match'] => [
  { hosts: ['shop.test'], paths: [{ prefix }], headers: [] },
];

/** How callers reach the route, and the path for which they ask. */
const WAYS: readonly [string, Partial<SnapshotRoute>, string][] = [
  ['by name', {}, '/v1/proxy/test/items'],
  ['by host', { match: onHost('/') }, '/items'],
  [
    'by a prefix that is stripped',
    { match: onHost('/store'), rewrite: rewriteField.parse({ strip_prefix: '/store' }) },
    '/store/items',
  ],
];

const CALLERS: readonly [string, string[]][] = [
  ['a caller', ['Host: shop.test:8080']],
  [
    'a caller behind proxies that end TLS',
    ['Host: shop.test', 'X-Forwarded-Proto: https, http', 'X-Forwarded-Host: shop.test, a.test'],
  ],
];

const cases = WAYS.flatMap(([way, route, target]) =>
  CALLERS.flatMap(([caller, lines]) =>
    BUILDERS.map(([builder, build]) => ({ way, route, target, caller, lines, builder, build })),
  ),
);

it.each(cases)(
  '$caller $way follows what a server makes of $builder',
  async ({ route, target, lines, build }) => {
    const upstream = opened(
      await startUpstream(({ url, headers }, response) => {
        if (url !== '/app/items') response.end(url);
        else response.writeHead(302, { location: build('/app/items/1?page=2', headers) }).end();
      }),
    );
    const gateway = opened(
      await startTestDataPath(
        { upstreams: [`${upstream.url}/app`], locations: 'map', ...route },
        { environment: { TRUSTED_PROXIES: '127.0.0.1' } },
      ),
    );
    const call = (path: string) => rawCall(gateway.port, { target: path, lines }, gateway.token);
    const isSecure = lines.length > 1;
    const base = isSecure ? 'https://shop.test' : 'http://shop.test:8080';
    const { headers } = await call(target);
    const led = new URL(headers.get('location') ?? '', base + target);
    expect(led.origin).toBe(base);
    const answer = await call(led.pathname + led.search);
    expect(String(answer.body)).toBe('/app/items/1?page=2');
  },
);
