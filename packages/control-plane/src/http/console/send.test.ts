import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closedPort } from '@gateway/shared/test/upstream';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import type { ServerResponse } from 'node:http';
import { CSRF } from '../../../test/console.ts';
import { codeOf, startSendWorld, type SendWorld } from '../../../test/send-world.ts';

const REFUSED = [401, 'authentication_failed'];
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a request that the console sends', () => {
  let world: SendWorld;
  let admin: string;
  const held: ServerResponse[] = [];
  beforeAll(async () => {
    world = await startSendWorld((seen, response) => {
      if (seen.url.endsWith('/held')) {
        held.push(response);
        return;
      }
      response.writeHead(418, 'Short', [
        ...['X-Request-Id', 'req_of_data_plane', 'Set-Cookie', 'a=1', 'Clear-Site-Data', '"*"'],
      ]);
      response.end(`<script>${seen.headers.authorization ?? ''}</script>`);
    });
    admin = await world.session();
  });
  afterAll(() => world.close());

  const last = () => world.dataPlane.seen.at(-1);

  it('goes to the data plane as it was typed, with the environment of the route', async () => {
    const answer = await world.send(admin, {
      method: 'POST',
      path: '/17//x',
      query: 'full=1',
      host: 'api.example',
      headers: [['X-A', '1']],
      body: base64('{"amount":1}'),
    });
    expect(answer.status).toBe(200);
    expect(last()).toMatchObject({
      method: 'POST',
      url: '/v1/proxy/charges/17//x?full=1',
      body: '{"amount":1}',
      headers: { 'x-a': '1', host: 'api.example', 'x-gateway-environment': 'production' },
    });
    expect(last()?.headers).not.toHaveProperty('cookie');
    expect(last()?.headers).not.toHaveProperty('x-console-request');
    expect(last()?.headers).not.toHaveProperty('authorization');
  });

  it('comes back as data in an envelope: nothing of an upstream is a field of the response', async () => {
    const answer = await world.send(admin);
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(answer.headers.get('clear-site-data')).toBeNull();
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.json.data).toMatchObject({
      request_id: 'req_of_data_plane',
      status: 418,
      status_text: 'Short',
      body: base64('<script></script>'),
      body_bytes: 17,
      body_end: 'complete',
      token: null,
    });
    expect(answer.json.data?.['headers']).toContainEqual(['Set-Cookie', 'a=1']);
  });

  it('has the token that was pasted for it, in the header of the route, and nothing shows it', async () => {
    const secret = createTokenSecret();
    const headers = { 'x-console-token': secret };
    const answer = await world.send(admin, { token: 'given' }, { headers });
    expect(last()?.headers.authorization).toBe(`Bearer ${secret}`);
    expect(answer.text).not.toContain(secret);
    expect(Buffer.from(String(answer.json.data?.['body']), 'base64').toString()).toBe(
      '<script>Bearer [token]</script>',
    );
    await world.send(admin, { token: 'given', route_id: world.routes.refunds }, { headers });
    expect(last()?.headers).toMatchObject({ 'x-api-key': secret });
    expect(last()?.headers.authorization).toBeUndefined();
    for (const given of [{}, { 'x-console-token': '' }, { 'x-console-token': 'a b' }]) {
      const refused = await world.send(admin, { token: 'given' }, { headers: given });
      expect(codeOf(refused)).toEqual([400, 'invalid_request']);
    }
  });

  it.each([
    [
      'without the header that only a script of the console can send',
      { 'x-console-request': null },
    ],
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    ['from another host of the same site', { 'sec-fetch-site': 'same-site' }],
    ['from another origin, by an old browser', { origin: 'https://elsewhere.example' }],
  ])('is refused %s', async (_case, given) => {
    const before = world.dataPlane.begun.length;
    const headers = Object.fromEntries(
      Object.entries({ ...CSRF, cookie: admin, ...given }).filter(([, value]) => value !== null),
    ) as Record<string, string>;
    const body = { route_id: world.routes.charges, method: 'GET', token: 'none' };
    const answer = await world.api.call('POST', '/console/send', { token: null, body, headers });
    expect(codeOf(answer)).toEqual(REFUSED);
    expect(world.dataPlane.begun.length).toBe(before);
  });

  it('needs a session: a token does not count, and neither does another content type', async () => {
    const body = { route_id: world.routes.charges, method: 'GET', token: 'none' };
    const byToken = await world.api.call('POST', '/console/send', { body, headers: CSRF });
    expect(codeOf(byToken)).toEqual(REFUSED);
    const asForm = await world.send(admin, {}, { headers: { 'content-type': 'text/plain' } });
    expect(codeOf(asForm)).toEqual([415, 'unsupported_media_type']);
  });

  it.each([
    [
      'the scope',
      { environments: ['*'], routes: ['*'], scopes: ['config:write', 'requests:read'] },
    ],
    ['the environment', { environments: ['development'], scopes: ['proxy'] }],
    ['the route', { environments: ['production'], routes: ['refunds'], scopes: ['proxy'] }],
  ])('is refused as a call of the API is, if the session lacks %s', async (what, reach) => {
    const token = await world.api.makeToken({ name: `lacks ${what}`, ...reach });
    const cookie = await world.session(token);
    const before = world.dataPlane.begun.length;
    for (const kind of ['none', 'given', 'minted']) {
      const headers = { 'x-console-token': createTokenSecret() };
      expect(codeOf(await world.send(cookie, { token: kind }, { headers }))).toEqual(REFUSED);
    }
    expect(world.dataPlane.begun.length).toBe(before);
  });

  it('is refused if there is no such route', async () => {
    const other = world.routes.charges.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    for (const route_id of ['', 'rte_x', other, '../services']) {
      expect(codeOf(await world.send(admin, { route_id }))).toEqual([404, 'route_not_found']);
    }
  });

  it('is refused after its session has ended while its body arrived, or while it was sent', async () => {
    const token = await world.api.makeToken({ name: 'leaves', environments: ['*'], scopes: ['*'] });
    const cookie = await world.session(token);
    const sending = world.send(cookie, { path: '/held' });
    await eventually(() => expect(held.length).toBe(1));
    const out = await world.api.call('DELETE', '/console/session', {
      token: null,
      headers: { cookie, ...CSRF },
    });
    expect(out.status).toBe(204);
    held.pop()?.end('secret of the upstream');
    const answer = await sending;
    expect(codeOf(answer)).toEqual(REFUSED);
    expect(answer.text).not.toContain(base64('secret of the upstream'));
  });

  it('is one of at most four of a session; one of another session goes on', async () => {
    const other = await world.session();
    const sending = [1, 2, 3, 4].map(() => world.send(admin, { path: '/held' }));
    await eventually(() => expect(held.length).toBe(4));
    expect(codeOf(await world.send(admin))).toEqual([429, 'rate_limit_exceeded']);
    const disguised = `${admin}; gateway_console=gws_${'x'.repeat(43)}`;
    expect(codeOf(await world.send(disguised))).toEqual([429, 'rate_limit_exceeded']);
    expect((await world.send(other)).status).toBe(200);
    expect(await world.metric('gateway_control_plane_console_sending')).toBe('4');
    for (const response of held.splice(0)) response.end();
    for (const one of sending) expect((await one).status).toBe(200);
    expect((await world.send(admin)).status).toBe(200);
    expect(await world.metric('gateway_control_plane_console_sending')).toBe('0');
  });

  it('is not followed by a second one when the browser leaves', async () => {
    const leaving = new AbortController();
    const sending = world.send(admin, { path: '/held' }, { signal: leaving.signal });
    await eventually(() => expect(held.length).toBe(1));
    leaving.abort();
    await expect(sending).rejects.toThrow();
    const name = 'gateway_control_plane_console_sends_total{result="left"}';
    await eventually(async () => expect(await world.metric(name)).toBe('1'));
    held.pop();
  });
});

describe('the data planes of the console', () => {
  it('are not known without DATA_PLANE_URL: nothing is sent, and the page learns what to set', async () => {
    const world = await startSendWorld(undefined, { isConfigured: false });
    try {
      const cookie = await world.session();
      const state = await world.api.call('GET', '/console/send', {
        token: null,
        headers: { cookie },
      });
      expect(state.json.data).toMatchObject({ configured: false, timeout_ms: 28_000 });
      const answer = await world.send(cookie);
      expect(codeOf(answer)).toEqual([501, 'not_implemented']);
      expect(answer.json.error?.['message']).toContain('DATA_PLANE_URL');
    } finally {
      await world.close();
    }
  });

  it('that end the connection without a response may have got the request, and the answer says so', async () => {
    const world = await startSendWorld((_seen, response) => void response.socket?.destroy());
    try {
      const answer = await world.send(await world.session());
      expect(codeOf(answer)).toEqual([502, 'upstream_unavailable']);
      expect(answer.json.error?.['message']).toContain('may have been carried out');
    } finally {
      await world.close();
    }
  });

  it('that cannot be reached are named by their setting, and nothing was sent', async () => {
    const dataPlaneUrl = `http://127.0.0.1:${await closedPort()}`;
    const world = await startSendWorld(undefined, { dataPlaneUrl });
    try {
      const answer = await world.send(await world.session());
      expect(codeOf(answer)).toEqual([503, 'data_plane_unavailable']);
      expect(answer.json.error?.['message']).toContain('DATA_PLANE_URL');
      expect(answer.json.error?.['message']).toContain('Nothing was sent');
    } finally {
      await world.close();
    }
  });
});
