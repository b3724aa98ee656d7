import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { eventually } from '@gateway/shared/test/eventually';
import { rawCall, rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import { affinityOf, startSessions, without } from '../../test/affinity.ts';
import { startTestDataPath } from '../../test/data-path.ts';

const opened = closeAfterEach();
const HEADER = 'mcp-session-id';
const SUFFIXED = /^session-ups_\d~gw[A-Za-z0-9_-]{38}$/;
const masterKey = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;

/** Upstreams that begin a session for a request without one, in the header of MCP. */
async function headerSessions(
  ...[route, options]: Parameters<typeof startSessions> extends [unknown, ...infer Rest]
    ? Rest
    : never
) {
  return opened(
    await startSessions({ by: 'upstream_header' }, route, options, (name, { headers }) =>
      headers[HEADER] === undefined ? { 'Mcp-Session-Id': `session-${name}` } : {},
    ),
  );
}

async function cookieSessions(retryElsewhere = false) {
  return opened(
    await startSessions(
      { by: 'upstream_cookie', cookie: 'sid', retry_elsewhere: retryElsewhere },
      {},
      {},
      (name, { headers }) =>
        headers.cookie?.includes('sid=') === true
          ? {}
          : { 'Set-Cookie': [`sid=session-${name}; Path=/; HttpOnly`, 'other=1'] },
    ),
  );
}

type Sessions = Awaited<ReturnType<typeof startSessions>>;

/** Begins a session and returns its id as the caller gets it, and its upstream. */
async function begin({ ask }: Sessions): Promise<{ id: string; name: string }> {
  const response = await ask();
  const cookie = response.headers.getSetCookie()[0];
  const id = response.headers.get(HEADER) ?? cookie?.slice('sid='.length).split(';')[0];
  return { id: id ?? '', name: await response.text() };
}

function seenBy({ upstreams }: Sessions, name: string) {
  return upstreams[Number(name.slice(-1))]?.seen ?? [];
}

describe('a session whose id the upstream gives out in a header', () => {
  it('goes to its upstream, which sees the id that it has made', async () => {
    const sessions = await headerSessions();
    const begun = [];
    for (let count = 0; count < 12; count += 1) begun.push(await begin(sessions));
    expect(new Set(begun.map(({ name }) => name)).size).toBeGreaterThan(1);
    for (const { id, name } of begun) {
      expect(id).toMatch(SUFFIXED);
      const answer = await sessions.ask({ 'MCP-Session-Id': id });
      expect(await answer.text()).toBe(name);
      expect(answer.headers.has(HEADER)).toBe(false);
      expect(seenBy(sessions, name).at(-1)?.headers[HEADER]).toBe(`session-${name}`);
    }
  });

  it('goes on at another data plane with the same master keys', async () => {
    const environment = { GATEWAY_MASTER_KEYS: masterKey('k1') };
    const sessions = await headerSessions({}, { environment });
    const other = await headerSessions({}, { environment });
    const { id, name } = await begin(sessions);
    expect(await (await other.ask({ [HEADER]: id })).text()).toBe(name);
  });

  it.each([
    ['its id', (id: string) => `x${id}`],
    ['its last character', (id: string) => id.slice(0, -1) + (id.endsWith('A') ? 'E' : 'A')],
  ])('is refused with 404 if %s was changed, and nothing is sent', async (_what, change) => {
    const sessions = await headerSessions();
    const { id, name } = await begin(sessions);
    const count = seenBy(sessions, name).length;
    const answer = await sessions.ask({ [HEADER]: change(id) });
    const error = await expectRefusal(answer, 404, 'session_not_found');
    const message = 'is not as the gateway gave it out';
    expect(error.details).toEqual([{ path: HEADER, message }]);
    expect(error.message).not.toContain('session-ups');
    expect(await sessions.gateway.recordOf(answer)).toMatchObject({
      error_code: 'session_not_found',
      policies: ['affinity'],
      attempts: [],
    });
    expect(seenBy(sessions, name)).toHaveLength(count);
  });

  it('has ended with 404 once the service does not have its upstream, and is back with it', async () => {
    const sessions = await headerSessions();
    const { id, name } = await begin(sessions);
    await sessions.use((before) => without(before, name));
    const error = await expectRefusal(
      await sessions.ask({ [HEADER]: id }),
      404,
      'session_not_found',
    );
    expect(error.details).toEqual([
      { path: HEADER, message: 'names no upstream of the service, so the session has ended' },
    ]);
    await sessions.use(() => ({}));
    expect((await sessions.ask({ [HEADER]: id })).status).toBe(200);
  });

  it('gets 502 while its upstream cannot be reached, and the others go on', async () => {
    const sessions = await headerSessions();
    const begun = [];
    for (let count = 0; count < 12; count += 1) begun.push(await begin(sessions));
    const lost = begun[0]?.name ?? '';
    await sessions.upstreams[Number(lost.slice(-1))]?.close();
    for (const { id, name } of begun) {
      const answer = await sessions.ask({ [HEADER]: id });
      if (name !== lost) expect(await answer.text()).toBe(name);
      else {
        await expectRefusal(answer, 502, 'upstream_unavailable');
        const { attempts } = await sessions.gateway.recordOf(answer);
        expect(new Set(attempts.map(({ upstream }) => upstream))).toEqual(new Set([lost]));
        expect(attempts.length).toBeGreaterThan(1);
      }
    }
    // New sessions begin at the others.
    expect((await begin(sessions)).name).not.toBe(lost);
  });

  it('of an id that the gateway has not given out goes to one upstream, unchanged', async () => {
    const sessions = await headerSessions();
    const names = new Map<string, Set<string>>();
    for (let count = 0; count < 40; count += 1) {
      const id = `old-${count % 10}`;
      const name = await (await sessions.ask({ [HEADER]: id })).text();
      expect(seenBy(sessions, name).at(-1)?.headers[HEADER]).toBe(id);
      names.set(id, (names.get(id) ?? new Set()).add(name));
    }
    expect([...names.values()].every(({ size }) => size === 1)).toBe(true);
    expect(new Set([...names.values()].flatMap((all) => [...all])).size).toBeGreaterThan(1);
  });

  it('has no id without suffix in an early hint either', async () => {
    const upstream = opened(
      await startRawUpstream((socket) => {
        const id = 'Mcp-Session-Id: session-ups_0';
        const hint = `HTTP/1.1 103 Early Hints\r\n${id}\r\n\r\n`;
        const response = `HTTP/1.1 200 OK\r\n${id}\r\nContent-Length: 0\r\n\r\n`;
        socket.once('data', () => void socket.write(hint + response));
      }),
    );
    const affinity = affinityOf({ by: 'upstream_header' });
    const gateway = opened(
      await startTestDataPath({ upstreams: [upstream.url], affinity, early_hints: true }),
    );
    const connection = opened(await rawConnection(gateway.port));
    const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
    connection.send(requestText({ lines }));
    await eventually(() => expect(connection.receivedText).toContain(' 200 OK'));
    const ids = connection.receivedText.matchAll(/Mcp-Session-Id: (.*)\r\n/g);
    const found = [...ids].map(([, id]) => id);
    expect(found).toEqual(Array(2).fill(expect.stringMatching(SUFFIXED)));
  });

  it('reaches its upstream as one line if a request has the same id twice', async () => {
    const sessions = await headerSessions();
    const { id, name } = await begin(sessions);
    const lines = ['Host: a', `Mcp-Session-Id: ${id}`, `mcp-session-id: ${id}`];
    const { status } = await rawCall(sessions.gateway.port, { lines }, sessions.secret);
    expect(status).toBe(200);
    expect(seenBy(sessions, name).at(-1)?.headers[HEADER]).toBe(`session-${name}`);
  });

  it('is refused with 400 if a request names two', async () => {
    const { gateway, secret } = await headerSessions();
    const call = (lines: readonly string[]) =>
      rawCall(
        gateway.port,
        { target: '/v1/proxy/test', lines: ['Host: gateway.test', ...lines] },
        secret,
      );
    const two = await call(['Mcp-Session-Id: a', 'mcp-session-id: b']);
    const { details } = await expectRefusal(two, 400, 'invalid_request');
    expect(details).toEqual([{ path: HEADER, message: 'must be sent once' }]);
    expect((await call(['Mcp-Session-Id: a', 'mcp-session-id: a'])).status).toBe(200);
  });

  it('stays at its version, whatever the weights are, unless the caller names another one', async () => {
    const sessions = await headerSessions();
    const { snapshot, use, ask } = sessions;
    const [service] = snapshot.services;
    const weigh = (v1: number, v2: number) =>
      use(() => ({
        services: [
          { ...service, ...without(snapshot, 'ups_2').services[0] } as never,
          { ...service, id: 'svc_2', upstreams: service?.upstreams.slice(2) } as never,
        ],
        routes: snapshot.routes.map((route) => ({
          ...route,
          versions: [
            { name: 'v1', service_id: 'svc_test', weight: v1 },
            { name: 'v2', service_id: 'svc_2', weight: v2 },
          ],
        })),
      }));
    await weigh(1, 0);
    const { id, name } = await begin(sessions);
    expect(name).not.toBe('ups_2');
    await weigh(0, 1);
    expect(await (await ask()).text()).toBe('ups_2');
    const answer = await ask({ [HEADER]: id });
    expect(await answer.text()).toBe(name);
    expect(await sessions.gateway.recordOf(answer)).toMatchObject({ route_version: 'v1' });
    const moved = await ask({ [HEADER]: id, 'x-gateway-version': 'v2' });
    await expectRefusal(moved, 404, 'session_not_found');
  });

  it('has the same id again in the stored response to an idempotency key', async () => {
    const sessions = await headerSessions();
    const post = () =>
      sessions.ask({ 'idempotency-key': 'begin-1' }, 'test', { method: 'POST', body: '{}' });
    const first = await post();
    const again = await post();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get(HEADER)).toMatch(SUFFIXED);
    expect(again.headers.get(HEADER)).toBe(first.headers.get(HEADER));
  });

  it('outlives a change of the master key while the old one is listed', async () => {
    const [old, next] = [masterKey('k1'), masterKey('k2')];
    const environmentOf = (keys: string) => ({ environment: { GATEWAY_MASTER_KEYS: keys } });
    const before = await headerSessions({}, environmentOf(old));
    const { id, name } = await begin(before);
    const rotated = await headerSessions({}, environmentOf(`${next},${old}`));
    expect(await (await rotated.ask({ [HEADER]: id })).text()).toBe(name);
    const without = await headerSessions({}, environmentOf(next));
    await expectRefusal(await without.ask({ [HEADER]: id }), 404, 'session_not_found');
  });
});

describe('a session whose id the upstream gives out in a cookie', () => {
  it('goes to its upstream, which sees the cookie that it has set', async () => {
    const sessions = await cookieSessions();
    for (let count = 0; count < 12; count += 1) {
      const response = await sessions.ask();
      const [cookie, other] = response.headers.getSetCookie();
      const name = await response.text();
      const [, id] =
        /^sid=(session-ups_\d~gw[A-Za-z0-9_-]{38}); Path=\/; HttpOnly$/.exec(cookie ?? '') ?? [];
      expect(other).toBe('other=1');
      const answer = await sessions.ask({ cookie: `a=1; sid="${id}"; b=2` });
      expect(await answer.text()).toBe(name);
      expect(seenBy(sessions, name).at(-1)?.headers.cookie).toBe(`a=1; sid="session-${name}"; b=2`);
    }
  });

  it('begins anew once the service does not have its upstream: a browser sends the cookie again and again', async () => {
    const sessions = await cookieSessions();
    const { id, name } = await begin(sessions);
    await sessions.use((before) => without(before, name));
    const answer = await sessions.ask({ cookie: `a=1; sid=${id}` });
    expect(answer.headers.getSetCookie()[0]).toMatch(/^sid=session-ups_\d~gw/);
    const next = await answer.text();
    expect(next).not.toBe(name);
    expect(seenBy(sessions, next).at(-1)?.headers.cookie).toBe('a=1');
  });

  it('is refused with 404 if its id was changed', async () => {
    const sessions = await cookieSessions();
    const { id } = await begin(sessions);
    const error = await expectRefusal(
      await sessions.ask({ cookie: `sid=x${id}` }),
      404,
      'session_not_found',
    );
    expect(error.details?.[0]?.path).toBe('sid');
  });

  it('is that of the first cookie which names an upstream; no other reaches it with a suffix', async () => {
    const sessions = await cookieSessions();
    const [one, other] = [await begin(sessions), await begin(sessions)];
    const foreign = await begin(await cookieSessions());
    const cookie = `sid=${foreign.id}; sid=plain; sid=${one.id}; sid=${other.id}x; sid=${other.id}`;
    const answer = await sessions.ask({ cookie });
    expect(await answer.text()).toBe(one.name);
    const rest = other.id === one.id ? '; sid=session-' + one.name : '';
    expect(seenBy(sessions, one.name).at(-1)?.headers.cookie).toBe(
      `sid=plain; sid=session-${one.name}; sid=${other.id}x${rest}`,
    );
  });

  it('goes on beside a cookie of the same name that was changed, which its upstream does not get', async () => {
    const sessions = await cookieSessions();
    const { id, name } = await begin(sessions);
    const answer = await sessions.ask({ cookie: `sid=x${id}; sid=${id}` });
    expect([answer.status, await answer.text()]).toEqual([200, name]);
    expect(seenBy(sessions, name).at(-1)?.headers.cookie).toBe(`sid=session-${name}`);
  });

  it('ends with an empty cookie', async () => {
    const sessions = opened(
      await startSessions({ by: 'upstream_cookie', cookie: 'sid' }, {}, {}, () => ({
        'Set-Cookie': 'sid=; Max-Age=0',
      })),
    );
    expect((await sessions.ask()).headers.getSetCookie()).toEqual(['sid=; Max-Age=0']);
  });

  it('goes on at another upstream if a retry may leave its own', async () => {
    const sessions = await cookieSessions(true);
    const { id, name } = await begin(sessions);
    await sessions.upstreams[Number(name.slice(-1))]?.close();
    const answer = await sessions.ask({ cookie: `sid=${id}` });
    expect(answer.status).toBe(200);
    const { attempts } = await sessions.gateway.recordOf(answer);
    expect(attempts.map(({ upstream }) => upstream)[0]).toBe(name);
    expect(attempts).toHaveLength(2);
  });
});
