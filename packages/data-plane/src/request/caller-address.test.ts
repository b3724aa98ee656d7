import { connect } from 'node:http2';
import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { http2Call } from '../../test/http2-call.ts';
import { keySettings } from '../../test/keyed-request.ts';
import {
  BY_HOST,
  BY_NAME,
  startMappedRoute,
  valuesOf,
  type MappedSetting,
} from '../../test/mapped-route.ts';

const opened = closeAfterEach();
const setUp = async (setting?: MappedSetting) => opened(await startMappedRoute(setting));

const PREFIX = '/v1/proxy/test';
const LINES = ['Location: http://{up}/a', 'Link: </b>'];
const BEHIND_PROXY = { environment: { TRUSTED_PROXIES: '127.0.0.1' } };
const HOST = 'Host: gateway.test';
const MOVED = { upstreams: ['http://moved.test'], locations: 'map' as const };

/** The values of the fields of the upstream's request that begin with `X-Forwarded-`, but `-For`. */
function forwarded(head = ''): Record<string, string> {
  const found = head.matchAll(/^(forwarded|x[-_]forwarded[-_](?!for)[^:]*): ?(.*)\r$/gim);
  return Object.fromEntries([...found].map(([, name = '', value = '']) => [name, value]));
}

const of = (proto: string, host: string, port: string, prefix = '') => ({
  'x-forwarded-proto': proto,
  'x-forwarded-host': host,
  'x-forwarded-port': port,
  ...(prefix !== '' && { 'x-forwarded-prefix': prefix }),
});

describe('the address of a caller', () => {
  it('is the host that it asked, and the route by name or not', async () => {
    const { answer, heads } = await setUp();
    const byName = await answer(LINES, { ...BY_NAME, lines: ['Host: gateway.test:8080'] });
    expect(valuesOf(byName, 'location')).toEqual([`http://gateway.test:8080${PREFIX}/a`]);
    const byHost = await answer(LINES, BY_HOST);
    expect(valuesOf(byHost, 'location')).toEqual(['http://api.test/a']);
    expect(valuesOf(byHost, 'link')).toEqual(['</b>']);
    const absolute = { target: `http://[::1]:81${PREFIX}`, lines: [HOST] };
    expect(valuesOf(await answer(LINES, absolute), 'location')).toEqual([
      `http://[::1]:81${PREFIX}/a`,
    ]);
    expect(heads.map(forwarded)).toEqual([
      of('http', 'gateway.test:8080', '8080', PREFIX),
      of('http', 'api.test', '80'),
      of('http', '[::1]:81', '81', PREFIX),
    ]);
  });

  it('has the usual port if the host has none that there is', async () => {
    const { answer, heads } = await setUp();
    for (const port of ['99999', '0', '080']) {
      await answer([], { ...BY_NAME, lines: [`Host: gateway.test:${port}`] });
    }
    expect(heads.map((head) => forwarded(head)['x-forwarded-port'])).toEqual(Array(3).fill('80'));
  });

  it('is that of each request, whoever came before on the same host', async () => {
    const { answer } = await setUp();
    const named = await answer(LINES, { ...BY_NAME, lines: ['Host: api.test'] });
    expect(valuesOf(named, 'location')).toEqual([`http://api.test${PREFIX}/a`]);
    expect(valuesOf(await answer(LINES, BY_HOST), 'location')).toEqual(['http://api.test/a']);
  });

  it('is a path alone if the caller names no host', async () => {
    const { answer, heads } = await setUp({ basePath: '/base' });
    const lines = ['Location: http://{up}/base/a', 'Content-Location: /base//b'];
    const response = await answer(lines, { ...BY_NAME, httpVersion: '1.0', lines: [] });
    expect(valuesOf(response, 'location')).toEqual([`${PREFIX}/a`]);
    expect(forwarded(heads[0])).toEqual({
      ...{ 'x-forwarded-proto': 'http', 'x-forwarded-port': '80', 'x-forwarded-prefix': PREFIX },
    });
  });

  it('is never what a caller says that is no trusted proxy', async () => {
    const { answer, heads } = await setUp();
    const claims = ['Proto: https', 'Host: evil.test', 'Port: 1', 'Prefix: /evil'].flatMap(
      (claim) => [`X-Forwarded-${claim}`, `X_Forwarded_${claim}`],
    );
    const forged = ['Forwarded: host=evil.test;proto=https', ...claims];
    const response = await answer(LINES, { ...BY_NAME, lines: [HOST, ...forged] });
    expect(valuesOf(response, 'location')).toEqual([`http://gateway.test${PREFIX}/a`]);
    expect(forwarded(heads[0])).toEqual(of('http', 'gateway.test', '80', PREFIX));
  });

  it.each<[string, string[], Record<string, string>, string]>([
    [
      'lists',
      ['Proto: https, http', 'Host: shop.test, inner.test', 'Port: 443, 80', 'Prefix: /a, /b/'],
      of('https', 'shop.test', '443', `/a/b${PREFIX}`),
      `https://shop.test/a/b${PREFIX}/a`,
    ],
    [
      'lists whose first elements are not valid',
      ['Proto: unknown, HTTPS', 'Host: a b, , x:99999, shop.test:8443', 'Port: x, 0, 444'],
      of('HTTPS', 'shop.test:8443', '8443', PREFIX),
      `https://shop.test:8443${PREFIX}/a`,
    ],
    [
      'nothing that is valid',
      ['Proto: ftp', 'Host: a/b', 'Port: 70000', 'Prefix: //evil.test'],
      of('http', 'gateway.test', '80', PREFIX),
      `http://gateway.test${PREFIX}/a`,
    ],
    [
      'a port beside a host without one',
      ['Proto: https', 'Host: shop.test', 'Port: 8443'],
      of('https', 'shop.test', '8443', PREFIX),
      `https://shop.test:8443${PREFIX}/a`,
    ],
    [
      'a port of its own',
      ['Proto: https', 'Host: shop.test', 'Port: 80'],
      of('https', 'shop.test', '80', PREFIX),
      `https://shop.test${PREFIX}/a`,
    ],
    [
      'a scheme of WebSockets',
      ['Proto: wss', 'Host: shop.test'],
      of('wss', 'shop.test', '443', PREFIX),
      `https://shop.test${PREFIX}/a`,
    ],
    ['nothing', [], of('http', 'gateway.test', '80', PREFIX), `http://gateway.test${PREFIX}/a`],
    [
      'a prefix that would add to a cookie',
      ['Prefix: /a;Domain=shop.test'],
      of('http', 'gateway.test', '80', PREFIX),
      `http://gateway.test${PREFIX}/a`,
    ],
    [
      'a prefix that leaves itself',
      ['Prefix: /a/%2e./b'],
      of('http', 'gateway.test', '80', PREFIX),
      `http://gateway.test${PREFIX}/a`,
    ],
  ])('is what a trusted proxy says: %s', async (_what, said, sent, location) => {
    const { answer, heads } = await setUp(BEHIND_PROXY);
    const lines = [HOST, 'Forwarded: host=inner.test', ...said.map((one) => `X-Forwarded-${one}`)];
    const response = await answer(LINES, { ...BY_NAME, lines });
    expect(forwarded(heads[0])).toEqual(sent);
    expect(valuesOf(response, 'location')).toEqual([location]);
  });

  it('goes on of a trusted proxy with `locations: off` as before, but for lists', async () => {
    const { answer, heads } = await setUp({ ...BEHIND_PROXY, route: { locations: 'off' } });
    const said = ['Proto: https, http', 'Host: shop.test', 'Port: 1', 'Prefix: /a'];
    await answer([], { ...BY_NAME, lines: [HOST, ...said.map((one) => `X-Forwarded-${one}`)] });
    expect(forwarded(heads[0])).toEqual({
      ...{ 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.test' },
    });
  });

  it('has the scheme of the caller, and that of the upstream becomes it, but no redirect to TLS is undone', async () => {
    const { answer } = await setUp(BEHIND_PROXY);
    const locationsOf = async (proto: string) => {
      const lines = [`Host: shop.test`, `X-Forwarded-Proto: ${proto}`];
      const written = ['https://{up}/a', 'https://shop.test/a', 'http://shop.test/a'];
      const answers = written.map((one) => `Location: ${one}`);
      const response = await answer(answers, { ...BY_NAME, lines });
      return valuesOf(response, 'location').map((one) => one.replace(/127[^/]+/, '{up}'));
    };
    const mapped = `https://shop.test${PREFIX}/a`;
    expect(await locationsOf('https')).toEqual([mapped, mapped, mapped]);
    expect(await locationsOf('http')).toEqual([
      ...['https://{up}/a', 'https://shop.test/a', `http://shop.test${PREFIX}/a`],
    ]);
  });

  it('is the authority over HTTP/2', async () => {
    const { gateway, answer } = await setUp({ environment: { HTTP2_CLEARTEXT: 'on' } });
    await answer(LINES);
    const session = connect(gateway.url);
    opened({ close: () => session.destroy() });
    const authorization = `Bearer ${gateway.token}`;
    const { headers } = await http2Call(session, { ':authority': 'two.test:81', authorization });
    expect(headers).toMatchObject({
      location: `http://two.test:81${PREFIX}/a`,
      link: `<${PREFIX}/b>`,
    });
  });
});

describe('besides plain responses', () => {
  it('103 Early Hints are mapped', async () => {
    const { gateway, answer } = await setUp({ route: { early_hints: true } });
    const lines = ['HTTP/1.1 103 Early Hints', 'Link: </b>', '', 'HTTP/1.1 200 OK', 'Link: </c>'];
    const hint = await answer(lines);
    expect([hint.status, valuesOf(hint, 'link')]).toEqual([103, [`<${PREFIX}/b>`]]);
    expect(gateway.records.every(({ policies }) => policies?.[0] === 'locations')).toBe(true);
  });

  it.each(['101 Switching Protocols', '403 Forbidden'])(
    'the response %s to a WebSocket handshake is mapped',
    async (status) => {
      const { answer } = await setUp();
      const upgrade = ['Connection: Upgrade', 'Upgrade: websocket'];
      const key = [`Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`];
      const request = {
        ...BY_NAME,
        lines: [HOST, ...upgrade, ...key, 'Sec-WebSocket-Version: 13'],
      };
      const response = await answer(
        [`HTTP/1.1 ${status}`, ...upgrade, 'Set-Cookie: a=1; Path=/', 'Location: /a'],
        request,
      );
      expect(response.status).toBe(Number(status.slice(0, 3)));
      expect(valuesOf(response, 'set-cookie')).toEqual([`a=1; Path=${PREFIX}`]);
      expect(valuesOf(response, 'location')).toEqual([`${PREFIX}/a`]);
    },
  );

  it('a stored response is mapped for the caller that it is replayed to, as the upstream that sent it wrote it', async () => {
    const { gateway, answer, heads } = await setUp({
      basePath: '/base',
      route: { idempotency: keySettings({}) },
    });
    const lines = ['HTTP/1.1 201 Created', 'Location: http://{up}/base/a', 'Link: </base/b>'];
    const post = (host: string) => ({
      ...BY_NAME,
      method: 'POST',
      lines: [`Host: ${host}`, 'Idempotency-Key: k', 'Content-Length: 0'],
    });
    const first = await answer(lines, post('one.test'));
    // The service has another address by now.
    await gateway.use({ ...testSnapshot(MOVED, gateway.token), version: 2 });
    const replayed = await answer([], post('two.test'));
    expect(valuesOf(first, 'location')).toEqual([`http://one.test${PREFIX}/a`]);
    expect(valuesOf(replayed, 'idempotent-replayed')).toEqual(['true']);
    expect(valuesOf(replayed, 'location')).toEqual([`http://two.test${PREFIX}/a`]);
    expect(valuesOf(replayed, 'link')).toEqual([`<${PREFIX}/b>`]);
    expect(replayed.rawHeaders.join('\n')).not.toMatch(/x-gateway-upstream|127\.0\.0\.1/i);
    expect(heads).toHaveLength(1);
    expect((await gateway.recordOf(replayed)).policies).toEqual(['locations']);
  });
});
