import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isBelow } from '@gateway/shared/definitions/route-match';
import { fuzzSettings, openFuzz } from '@gateway/shared/test/fuzz';
import { closeAfterEach } from '@gateway/shared/test/opened';
import type { RawRequest } from '@gateway/shared/test/raw-client';
import {
  BY_HOST,
  BY_NAME,
  startMappedRoute,
  valuesOf as values,
  type MappedSetting,
} from '../../test/mapped-route.ts';
import { resolved, writtenReference } from '../../test/written-references.ts';
import { isProxyPath, refuseSubPath } from './proxy-path.ts';

const opened = closeAfterEach();
const setUp = async (setting?: MappedSetting) => opened(await startMappedRoute(setting));

const PREFIX = '/v1/proxy/test';
const BY_NAME_URL = `http://gateway.test${PREFIX}`;

describe('a Location', () => {
  it.each<[written: string, byName: string, byHost: string]>([
    ['http://{up}/base/a?b#c', `${BY_NAME_URL}/a?b#c`, 'http://api.test/a?b#c'],
    ['HTTP://{up}/base', BY_NAME_URL, 'http://api.test/'],
    ['http://{up}/base/', `${BY_NAME_URL}/`, 'http://api.test/'],
    ['http://{up}/base?b', `${BY_NAME_URL}?b`, 'http://api.test/?b'],
    ['//{up}/base/a', `//gateway.test${PREFIX}/a`, '//api.test/a'],
    ['/base/a?b', `${PREFIX}/a?b`, '/a?b'],
    ['/base/a b/caf\xc3\xa9%2f%2F', `${PREFIX}/a b/caf\xc3\xa9%2f%2F`, '/a b/caf\xc3\xa9%2f%2F'],
    ['/base//evil.test/a', `${PREFIX}//evil.test/a`, 'http://api.test//evil.test/a'],
    ['/x/../base/./a', `${BY_NAME_URL}/a`, 'http://api.test/a'],
    ['\\base\\a', `${BY_NAME_URL}/a`, 'http://api.test/a'],
    ['http://u:p@{up}/base/a', `http://u:p@gateway.test${PREFIX}/a`, 'http://u:p@api.test/a'],
    // What leads elsewhere, or is relative to the path of the request.
    ...[
      ...['http://{up}/other', 'http://{up}/baseline', '/other', '/baseline', '/base/../other'],
      ...['https://{up}/base/a', 'http://elsewhere.test/base/a', '//elsewhere.test/base/a'],
      ...['http://{up}.elsewhere.test/base/a', 'http://elsewhere.test/?http://{up}/base/a'],
      ...['a', '../a', './a', '?b', '#c', 'mailto:a@b.test', 'urn:x:y', 'http://', '//'],
    ].map((written): [string, string, string] => [written, written, written]),
  ])('%s', async (written, byName, byHost) => {
    const { gateway, answer } = await setUp({ basePath: '/base' });
    const port = /127\.0\.0\.1:\d+/;
    const seen = async (request: RawRequest) => {
      const response = await answer(['HTTP/1.1 302 Found', `Location: ${written}`], request);
      return values(response, 'location').map((value) => value.replace(port, '{up}'));
    };
    expect(await seen(BY_NAME)).toEqual([byName]);
    expect(await seen(BY_HOST)).toEqual([byHost]);
    const [first] = gateway.records;
    expect(first?.policies).toEqual(byName === written ? null : ['locations']);
  });

  it.each([
    ['http://gateway.test/base/a', `${BY_NAME_URL}/a`],
    // Built with X-Forwarded-Prefix: it is not added twice.
    [`http://gateway.test${PREFIX}/a`, `http://gateway.test${PREFIX}/a`],
    [`http://gateway.test:80${PREFIX}/a`, `http://gateway.test${PREFIX}/a`],
    [`${PREFIX}/a`, `${PREFIX}/a`],
    // Some servers put the prefix before the path that they got, others in place of a part of it.
    [`${PREFIX}/base/a`, `${PREFIX}/a`],
    [`http://gateway.test${PREFIX}/base?b`, `http://gateway.test${PREFIX}?b`],
    ['http://gateway.test/v1/proxy/other/a', 'http://gateway.test/v1/proxy/other/a'],
  ])('that was built from X-Forwarded-*: %s', async (written, mapped) => {
    const { answer } = await setUp({ basePath: '/base' });
    const response = await answer(['HTTP/1.1 201 Created', `Location: ${written}`]);
    expect(values(response, 'location')).toEqual([mapped]);
  });

  it('of any status and method is mapped, and each line of it', async () => {
    const { answer } = await setUp();
    const lines = ['Location: /a', 'LOCATION: http://{up}/b', 'Content-Location: /c', 'X-A: /d'];
    for (const [status, method] of [
      ...[
        ['201 Created', 'POST'],
        ['307 Temporary Redirect', 'PUT'],
        ['200 OK', 'OPTIONS'],
      ],
    ] as const) {
      const request = { ...BY_NAME, method, lines: ['Host: gateway.test', 'Content-Length: 0'] };
      const response = await answer([`HTTP/1.1 ${status}`, ...lines], request);
      expect(values(response, 'location')).toEqual([`${PREFIX}/a`, `${BY_NAME_URL}/b`]);
      expect(values(response, 'content-location')).toEqual([`${PREFIX}/c`]);
      expect(values(response, 'x-a')).toEqual(['/d']);
      expect(response.body.toString()).toBe('ok');
    }
  });

  it('stays with `locations: off`, whatever else the route has', async () => {
    const { answer, heads } = await setUp({ route: { locations: 'off' } });
    const lines = ['Location: /a', 'Link: </b>; rel=next', 'Set-Cookie: a=1; Path=/; Domain={up}'];
    const response = await answer(lines);
    expect(values(response, 'location')).toEqual(['/a']);
    expect(values(response, 'link')).toEqual(['</b>; rel=next']);
    expect(values(response, 'set-cookie')[0]).toMatch(/^a=1; Path=\/; Domain=127/);
    expect(heads[0]).not.toMatch(/x-forwarded-(?:port|prefix)/i);
  });
});

describe('a Link', () => {
  it.each([
    ['</a>; rel="next"', `<${PREFIX}/a>; rel="next"`],
    ['<http://{up}/a?b,c;d>;rel=next', `<${BY_NAME_URL}/a?b,c;d>;rel=next`],
    ['</a>;rel=next,</b> ; rel=last', `<${PREFIX}/a>;rel=next,<${PREFIX}/b> ; rel=last`],
    [
      '</a>; title="x, </no>; \\" y"; rel=next, <b>; rel=x, </c>',
      `<${PREFIX}/a>; title="x, </no>; \\" y"; rel=next, <b>; rel=x, <${PREFIX}/c>`,
    ],
    ['</a>; anchor="/b\\c"; rel=x', `<${PREFIX}/a>; anchor="${PREFIX}/bc"; rel=x`],
    ['</a>; ANCHOR = /b ;rel=x', `<${PREFIX}/a>; ANCHOR = ${PREFIX}/b ;rel=x`],
    ['</a>; anchor="#b"', `<${PREFIX}/a>; anchor="#b"`],
    ['<https://elsewhere.test/a>, </b>', `<https://elsewhere.test/a>, <${PREFIX}/b>`],
    // What follows a part that is no link stays.
    ['</a>, b; rel=x, </c>', `<${PREFIX}/a>, b; rel=x, </c>`],
    ['</a', '</a'],
    ['</a>; title="x', `<${PREFIX}/a>; title="x`],
    ['', ''],
  ])('%s', async (written, mapped) => {
    const { answer } = await setUp();
    const response = await answer([`Link: ${written}`]);
    expect(values(response, 'link')).toEqual([mapped]);
  });
});

describe('a Refresh', () => {
  it.each([
    ['5; url=/a', `5; url=${PREFIX}/a`],
    ['0;URL="http://{up}/a"', `0;URL="${BY_NAME_URL}/a"`],
    ["1.5, url = '/a' x", `1.5, url = '${PREFIX}/a' x`],
    ['5 /a', `5 ${PREFIX}/a`],
    ['5;/a', `5;${PREFIX}/a`],
    ['5', '5'],
    ['5; url=b', '5; url=b'],
    ['x; url=/a', 'x; url=/a'],
  ])('%s', async (written, mapped) => {
    const { answer } = await setUp();
    const response = await answer([`Refresh: ${written}`]);
    expect(values(response, 'refresh')).toEqual([mapped]);
  });
});

describe('a cookie', () => {
  it.each<[written: string, byName: string, byHost: string]>([
    ['a=1; Path=/', `a=1; Path=${PREFIX}`, 'a=1; Path=/'],
    ['a=1; Path=/base', `a=1; Path=${PREFIX}`, 'a=1; Path=/'],
    ['a=1;PATH = /base/b ; Secure', `a=1;PATH =${PREFIX}/b; Secure`, 'a=1;PATH =/b; Secure'],
    ['a=1; Path=/base/', `a=1; Path=${PREFIX}/`, 'a=1; Path=/'],
    [`a=1; Path=${PREFIX}`, `a=1; Path=${PREFIX}`, `a=1; Path=${PREFIX}`],
    [`a=1; Path=${PREFIX}/base/b`, `a=1; Path=${PREFIX}/b`, `a=1; Path=${PREFIX}/base/b`],
    ['a=1; Path=/other', `a=1; Path=${PREFIX}/other`, 'a=1; Path=/other'],
    ['a=1; Path=/console', `a=1; Path=${PREFIX}/console`, 'a=1; Path=/console'],
    ['a=1; Path=/v1/proxy/next', `a=1; Path=${PREFIX}/v1/proxy/next`, 'a=1; Path=/v1/proxy/next'],
    ['a=1; Path=b; Path', 'a=1; Path=b; Path', 'a=1; Path=b; Path'],
    ['a=1; Domain=127.0.0.1; HttpOnly', 'a=1; HttpOnly', 'a=1; HttpOnly'],
    ['a=1; Domain=elsewhere.test', 'a=1; Domain=elsewhere.test', 'a=1; Domain=elsewhere.test'],
    ['a=1; Domain=', 'a=1; Domain=', 'a=1; Domain='],
    // No cookie has a semicolon in its value, whatever is around it.
    ['a="/base; Path=/"', `a="/base; Path=${PREFIX}/"`, 'a="/base; Path=/"'],
    ['__Host-a=1; Secure; Path=/', '__Host-a=1; Secure; Path=/', '__Host-a=1; Secure; Path=/'],
    ['__Secure-a=1; Path=/', `__Secure-a=1; Path=${PREFIX}`, '__Secure-a=1; Path=/'],
  ])('%s', async (written, byName, byHost) => {
    const { answer } = await setUp({ basePath: '/base' });
    const line = [`Set-Cookie: ${written}`];
    expect(values(await answer(line), 'set-cookie')).toEqual([byName]);
    expect(values(await answer(line, BY_HOST), 'set-cookie')).toEqual([byHost]);
  });

  it('without a path belongs to the route, even if the request has no path below its name', async () => {
    const { answer } = await setUp();
    const response = await answer(['Set-Cookie: a=1'], { target: PREFIX });
    expect(values(response, 'set-cookie')).toEqual([`a=1; Path=${PREFIX}`]);
    for (const last of ['Path', 'Path=', 'path = b']) {
      const none = await answer([`Set-Cookie: a=1; Path=/b; ${last}`], { target: PREFIX });
      expect(values(none, 'set-cookie')[0]).toMatch(new RegExp(`; Path=${PREFIX}$`));
    }
    expect(values(await answer(['Set-Cookie: a=1']), 'set-cookie')).toEqual(['a=1']);
  });
});

const { kept, seed, runs } = openFuzz<string>(
  new URL('response-locations.kept.json', import.meta.url),
  60,
);

it('leads a caller that follows it to the path of the upstream that it means', async () => {
  const { answer, gateway, heads } = await setUp({ basePath: '/api' });
  await answer([]);
  const up = /^host: (.*)\r$/im.exec(heads[0] ?? '')?.[1] ?? '';
  /** The target that the upstream gets if a caller follows what it gets for a request. */
  const follow = async (reference: string, request: RawRequest, base: string) => {
    const line = `Location: ${reference.replaceAll('{up}', up)}`;
    const [location = ''] = values(await answer([line], request), 'location');
    const url = resolved(location, base);
    if (url === null || url.host !== new URL(base).host) return undefined;
    const before = heads.length;
    await answer([], { target: url.pathname + url.search, lines: [`Host: ${url.host}`] });
    return heads.length === before ? undefined : heads.at(-1)?.split(' ')[1];
  };
  const property = fc.asyncProperty(writtenReference, async (reference) => {
    const meant = resolved(reference.replaceAll('{up}', up), `http://${up}/api/docs/1`);
    const isOwn = meant?.host === up && isBelow(meant.pathname, '/api');
    if (meant?.protocol !== 'http:' || !isOwn || meant.pathname === '/api') return;
    const target = meant.pathname + meant.search;
    // The gateway refuses what a server could read as another path.
    if (refuseSubPath(meant.pathname.slice(4)) !== undefined) return;
    expect(await follow(reference, BY_NAME, `${BY_NAME_URL}/docs/1`)).toBe(target);
    // On every host these are the paths of routes by name.
    if (isProxyPath(meant.pathname.slice(4))) return;
    expect(await follow(reference, BY_HOST, 'http://api.test/docs/1')).toBe(target);
  });
  await fc.assert(property, fuzzSettings({ kept, seed, runs: runs * 5 }));
  expect(gateway.records.length).toBeGreaterThan(0);
});
