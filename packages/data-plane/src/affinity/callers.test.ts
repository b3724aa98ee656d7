import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { testToken } from '@gateway/shared/test/snapshot';
import { startSessions } from '../../test/affinity.ts';

const opened = closeAfterEach();

const start = async (...args: Parameters<typeof startSessions>) =>
  opened(await startSessions(...args));

type Sessions = Awaited<ReturnType<typeof startSessions>>;

/** The upstreams that answer so many requests with these headers. */
async function namesOf({ ask }: Sessions, headers: Record<string, string>, count = 8) {
  const names = new Set<string>();
  for (let at = 0; at < count; at += 1) names.add(await (await ask(headers)).text());
  return names;
}

const isOne = ({ size }: Set<string>) => size === 1;

describe('affinity by token', () => {
  it('keeps each caller at one upstream, whatever its address and secret', async () => {
    const sessions = await start({ by: 'token' });
    const secrets = Array.from({ length: 12 }, () => createTokenSecret());
    await sessions.use(() => ({
      tokens: secrets.map((secret, at) => testToken(secret, { id: `tok_${at >> 1}` })),
    }));
    const names = [];
    for (const secret of secrets) {
      names.push(await namesOf(sessions, { authorization: `Bearer ${secret}` }, 4));
    }
    expect(names.every(isOne)).toBe(true);
    expect(new Set(names.flatMap((all) => [...all])).size).toBeGreaterThan(1);
    for (let at = 0; at < names.length; at += 2) expect(names[at]).toEqual(names[at + 1]);
  });
});

describe('affinity by address', () => {
  it('keeps each address at one upstream', async () => {
    const environment = { TRUSTED_PROXIES: '127.0.0.1' };
    const sessions = await start({ by: 'ip' }, {}, { environment });
    const names = [];
    for (let at = 1; at <= 8; at += 1) {
      names.push(await namesOf(sessions, { 'x-forwarded-for': `203.0.113.${at}` }, 4));
    }
    expect(names.every(isOne)).toBe(true);
    expect(new Set(names.flatMap((all) => [...all])).size).toBeGreaterThan(1);
  });
});

describe('affinity by a header', () => {
  it('keeps each value at one upstream, and leaves the header', async () => {
    const sessions = await start({ by: 'header', header: 'X-Tenant' });
    const names = [];
    for (let at = 0; at < 8; at += 1) {
      names.push(await namesOf(sessions, { 'x-tenant': `tenant-${at}` }, 4));
    }
    expect(names.every(isOne)).toBe(true);
    expect(new Set(names.flatMap((all) => [...all])).size).toBeGreaterThan(1);
    const seen = sessions.upstreams.flatMap((upstream) => upstream.seen);
    expect(seen.every(({ headers }) => /^tenant-\d$/.test(String(headers['x-tenant'])))).toBe(true);
  });

  it('sends requests without the header to any upstream', async () => {
    const sessions = await start({ by: 'header', header: 'X-Tenant' });
    expect((await namesOf(sessions, {}, 40)).size).toBe(3);
  });

  it('retries at the same upstream unless the route lets a retry leave it', async () => {
    for (const retry_elsewhere of [false, true]) {
      const sessions = await start({ by: 'header', header: 'x-tenant', retry_elsewhere });
      const headers = { 'x-tenant': 'one' };
      const [name = ''] = await namesOf(sessions, headers, 1);
      await sessions.upstreams[Number(name.slice(-1))]?.close();
      const answer = await sessions.ask(headers);
      expect(answer.status).toBe(retry_elsewhere ? 200 : 502);
      const { attempts } = await sessions.gateway.recordOf(answer);
      const tried = attempts.map(({ upstream }) => upstream);
      if (!retry_elsewhere) expect(tried).toEqual([name, name, name]);
      else {
        expect(tried[0]).toBe(name);
        // The next one by score, every time.
        expect(await namesOf(sessions, headers, 4)).toEqual(new Set([tried[1]]));
      }
    }
  });

  it('moves the callers of an upstream that is ejected', async () => {
    const sessions = await start({ by: 'header', header: 'x-tenant' });
    const headers = { 'x-tenant': 'one' };
    const [name = ''] = await namesOf(sessions, headers, 1);
    await sessions.upstreams[Number(name.slice(-1))]?.close();
    const statuses = [];
    for (let count = 0; count < 4; count += 1) statuses.push((await sessions.ask(headers)).status);
    expect(statuses.slice(0, 1)).toEqual([502]);
    expect(statuses.at(-1)).toBe(200);
  });
});

describe('affinity by a cookie of the gateway', () => {
  const COOKIE =
    /^gateway_affinity=([A-Za-z0-9_-]{22}); Path=\/v1\/proxy\/test; HttpOnly; SameSite=Lax$/;

  it('gives a caller without one a cookie, by which its requests find the same upstream', async () => {
    const sessions = await start({ by: 'gateway_cookie' });
    const names = new Set<string>();
    for (let count = 0; count < 12; count += 1) {
      const first = await sessions.ask();
      const cookies = first.headers.getSetCookie();
      expect(cookies).toEqual([expect.stringMatching(COOKIE)]);
      const cookie = cookies[0]?.split(';')[0] ?? '';
      const name = await first.text();
      expect(await namesOf(sessions, { cookie: `a=1; ${cookie}` }, 4)).toEqual(new Set([name]));
      names.add(name);
    }
    expect(names.size).toBeGreaterThan(1);
  });

  it('keeps it from the upstream, and takes none of it', async () => {
    const sessions = await start({ by: 'gateway_cookie', cookie: 'lb' }, {}, {}, () => ({
      'Set-Cookie': ['lb=theirs', 'a=1'],
    }));
    const id = 'A'.repeat(22);
    const answer = await sessions.ask({ cookie: `a=1; lb=${id}; b=2` });
    expect(answer.headers.getSetCookie()).toEqual(['a=1']);
    const seen = sessions.upstreams.flatMap((upstream) => upstream.seen);
    expect(seen.map(({ headers }) => headers.cookie)).toEqual(['a=1; b=2']);
    await sessions.ask({ cookie: `lb=${id}` });
    const all = sessions.upstreams.flatMap((upstream) => upstream.seen);
    expect(all.filter(({ headers }) => headers.cookie === undefined)).toHaveLength(1);
  });

  it.each(['short', `${'A'.repeat(21)}.`, ''])('gives a new one in place of %j', async (value) => {
    const sessions = await start({ by: 'gateway_cookie' });
    const answer = await sessions.ask({ cookie: `gateway_affinity=${value}` });
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(COOKIE)]);
  });

  it('sets it for TLS only if the caller comes over TLS', async () => {
    const environment = { TRUSTED_PROXIES: '127.0.0.1' };
    const sessions = await start({ by: 'gateway_cookie' }, {}, { environment });
    for (const [proto, attributes] of [
      ['https', 'Secure; SameSite=None'],
      ['http', 'SameSite=Lax'],
    ] as const) {
      const answer = await sessions.ask({ 'x-forwarded-proto': proto });
      expect(answer.headers.getSetCookie()[0]).toMatch(new RegExp(`; HttpOnly; ${attributes}$`));
    }
  });

  it('sets it for every path of a host of routes', async () => {
    const match = [{ hosts: [], paths: [{ prefix: '/shop' }], headers: [] }];
    const { gateway, secret } = await start({ by: 'gateway_cookie' }, { match });
    const answer = await fetch(`${gateway.url}/shop/cart`, {
      headers: { authorization: `Bearer ${secret}`, 'x-gateway-environment': 'production' },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.getSetCookie()[0]).toContain('; Path=/; ');
  });

  it('sets it with a refusal and with a stored response too', async () => {
    const quota = {
      limit: 1,
      window_seconds: 3600,
      per: 'route',
      on_store_unavailable: 'share',
    } as const;
    const sessions = await start({ by: 'gateway_cookie' }, { rate_limit: quota });
    await sessions.ask();
    const refused = await sessions.ask();
    expect(refused.status).toBe(429);
    expect(refused.headers.getSetCookie()).toEqual([expect.stringMatching(COOKIE)]);
    const keyed = await start({ by: 'gateway_cookie' });
    const post = (headers: object = {}) =>
      keyed.ask({ 'idempotency-key': 'once', ...headers }, 'test', { method: 'POST', body: '{}' });
    await post();
    const replayed = await post();
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
    expect(replayed.headers.getSetCookie()).toEqual([expect.stringMatching(COOKIE)]);
    const known = await post({ cookie: `gateway_affinity=${'A'.repeat(22)}` });
    expect(known.headers.get('idempotent-replayed')).toBe('true');
    expect(known.headers.getSetCookie()).toEqual([]);
  });

  it('keeps a session at the version of its caller, also from another address', async () => {
    const environment = { TRUSTED_PROXIES: '127.0.0.1' };
    const sessions = await start(
      { by: 'gateway_cookie' },
      { auth: { type: 'none' } },
      { environment },
    );
    const { snapshot } = sessions;
    const [service] = snapshot.services;
    const ids = ['svc_test', 'svc_2'];
    await sessions.use(() => ({
      services: ids.map((id, at) => {
        const upstreams = service?.upstreams.slice(at, at + 1) ?? [];
        return { ...(service as NonNullable<typeof service>), id, upstreams };
      }),
      routes: snapshot.routes.map((route) => ({
        ...route,
        versions: ids.map((service_id, at) => ({ name: `v${at}`, service_id, weight: 1 })),
      })),
    }));
    const from = (host: number) => ({ 'x-forwarded-for': `203.0.113.${host}` });
    const names = new Map<number, string>();
    for (let host = 0; host < 12; host += 1) {
      const first = await sessions.ask(from(host));
      const cookie = first.headers.getSetCookie()[0]?.split(';')[0] ?? '';
      names.set(host, await first.text());
      // Another session of the same address.
      expect(await namesOf(sessions, from(host), 3)).toEqual(new Set([names.get(host)]));
      for (let other = 20; other < 26; other += 1) {
        const moved = await sessions.ask({ ...from(other), cookie });
        expect(await moved.text()).toBe(names.get(host));
      }
    }
    expect(new Set(names.values()).size).toBe(2);
  });
});
