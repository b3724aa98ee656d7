import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath } from '../../../test/data-path.ts';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startJwtRoute } from '../../../test/jwt-route.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import {
  createIssuerKey,
  startTokenIssuer,
  type TokenIssuer,
} from '@gateway/shared/test/token-issuer';
import { startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

describe('a route with JWTs and its issuer', () => {
  it('accepts tokens of a new key during traffic without a failed request', async () => {
    const { issuer, callWith, upstream } = await startJwtRoute(opened);
    expect((await callWith()).status).toBe(200);
    const added = await createIssuerKey();
    const statuses: number[] = [];
    const caller = async (name: string) => {
      for (let index = 0; index < 20; index += 1) {
        if (index === 10 && name === 'first') issuer.keys = [added, ...issuer.keys];
        statuses.push((await callWith({ sub: `${name}-${index}` })).status);
      }
    };
    await Promise.all(['first', 'second', 'third', 'fourth'].map(caller));
    expect(statuses).toEqual(Array(80).fill(200));
    expect(upstream.seen).toHaveLength(81);
    expect(issuer.fetches).toBe(2);
  });

  it('uses the known keys while the issuer is down', async () => {
    const { issuer, gateway, route, callWith } = await startJwtRoute(opened);
    expect((await callWith()).status).toBe(200);
    await issuer.close();
    await gateway.use(testSnapshot({ ...route, timeout_ms: 4000 }, createTokenSecret()));
    expect((await callWith({ sub: 'never seen' })).status).toBe(200);
    await expectRefusal(await callWith({ exp: 1 }), 401, 'authentication_failed');
  });

  it.each<[string, NonNullable<TokenIssuer['answer']>]>([
    ['answers an error', (response) => void response.writeHead(500).end()],
    ['answers garbage', (response) => void response.end('<html>')],
    ['answers what is no key set', (response) => void response.end('{"keys":7}')],
    ['answers without end', (response) => void response.write('x'.repeat(300_000))],
    ['redirects', (response) => void response.writeHead(302, { location: '/other' }).end()],
  ])('answers 503 if the issuer %s, and forwards nothing', async (_case, answer) => {
    const { gateway, upstream, callWith } = await startJwtRoute(opened, {}, {}, { answer });
    const response = await callWith();
    const error = await expectRefusal(response, 503, 'gateway_not_ready');
    expect(error.message).toContain('keys of its issuer');
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(await gateway.recordOf(response)).toMatchObject({ outcome: 'rejected', subject: null });
    expect(upstream.seen).toHaveLength(0);
  });

  it('forwards as soon as the issuer is reachable', async () => {
    const answer: TokenIssuer['answer'] = (response) => void response.writeHead(503).end();
    const { issuer, callWith } = await startJwtRoute(opened, {}, {}, { answer });
    await expectRefusal(await callWith(), 503, 'gateway_not_ready');
    issuer.answer = undefined;
    await eventually(async () => expect((await callWith()).status).toBe(200));
  });

  it('delays a request for a hanging issuer no longer than its deadline, and no other request', async () => {
    const upstream = opened(await startUpstream());
    const issuer = opened(await startTokenIssuer());
    issuer.answer = () => undefined;
    const base = { upstreams: [upstream.url], timeout_ms: 300 };
    const token = createTokenSecret();
    const snapshot = testSnapshot({ ...base, auth: issuer.auth() }, token);
    const [route] = snapshot.routes;
    if (route === undefined) throw new Error('no route');
    const plain = { ...route, id: 'rte_plain', name: 'plain', auth: { type: 'token' as const } };
    const snapshots = [{ ...snapshot, routes: [route, plain] }];
    const gateway = opened(await startTestDataPath(base, { snapshots }));
    const jwt = { authorization: `Bearer ${await issuer.token()}` };
    const held = fetch(`${gateway.url}/v1/proxy/test`, { headers: jwt });
    const bearer = { authorization: `Bearer ${token}` };
    const other = await fetch(`${gateway.url}/v1/proxy/plain`, { headers: bearer });
    expect(other.status).toBe(200);
    const refused = await held;
    await expectRefusal(refused, 503, 'gateway_not_ready');
    const { timing } = await gateway.recordOf(refused);
    expect(timing.total_ms).toBeGreaterThanOrEqual(295);
    expect(timing.total_ms).toBeLessThan(3000);
  });

  it('keeps requests that wait for a hanging issuer apart from the slots of the others', async () => {
    const { issuer, gateway, route, call } = await startJwtRoute(
      opened,
      {},
      { timeout_ms: 60_000 },
      { environment: { MAX_IN_FLIGHT_REQUESTS: '1', MAX_UNAUTHENTICATED_REQUESTS: '4' } },
    );
    const slow = opened(await startTokenIssuer());
    slow.answer = () => undefined;
    const token = createTokenSecret();
    const snapshot = testSnapshot({ ...route, auth: slow.auth() }, token);
    const [hanging] = snapshot.routes;
    if (hanging === undefined) throw new Error('no route');
    const plain = { ...hanging, id: 'rte_plain', name: 'plain', auth: { type: 'token' as const } };
    await gateway.use({ ...snapshot, version: 2, routes: [hanging, plain] });
    const jwt = await slow.token();
    // Of four slots one issuer gets three.
    const held = Array.from({ length: 3 }, () => call(jwt).catch(() => undefined));
    await eventually(async () => expect(await gateway.inFlight()).toBe(3));
    const refused = await call(jwt);
    await expectRefusal(refused, 503, 'gateway_overloaded');
    expect(refused.headers.get('retry-after')).toBe('1');
    const headers = { authorization: `Bearer ${token}` };
    for (let again = 0; again < 3; again += 1) {
      const other = await fetch(`${gateway.url}/v1/proxy/plain`, { headers });
      expect(other.status).toBe(200);
    }
    await Promise.all([slow.close(), issuer.close(), ...held]);
    await eventually(async () => expect(await gateway.inFlight()).toBe(0));
    const text = await gateway.registry.getSingleMetricAsString('gateway_slots_in_use');
    expect(text).toContain('gateway_slots_in_use{slots="unauthenticated"} 0');
  });

  it('refuses an issuer at a denied address', async () => {
    const denyCidrs = ['127.0.0.0/8'];
    const { issuer, gateway, callWith } = await startJwtRoute(opened, {}, {}, { denyCidrs });
    await expectRefusal(await callWith(), 503, 'gateway_not_ready');
    expect(issuer.fetches).toBe(0);
    expect(gateway.logLines.join()).toContain('"result":"address_refused"');
  });
});
