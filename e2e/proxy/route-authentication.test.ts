import {
  createIssuerKey,
  ISSUER,
  startTokenIssuer,
  type TokenIssuer,
} from '@gateway/shared/test/token-issuer';
import { expectRefusal } from '@gateway/shared/test/refusal';
import type { SeenRequest } from '@gateway/shared/test/upstream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, Resource } from '../harness/client.ts';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';

const startTimeoutMs = 60_000;

describe('the authentication of a route', () => {
  let gateway: BorrowedGateway;
  let issuer: TokenIssuer;

  beforeAll(async () => {
    issuer = await startTokenIssuer();
    gateway = await borrowGateway();
    await gateway.route({ name: 'users', upstreamPath: '/users', auth: jwtAuth() });
    await gateway.settled();
  }, startTimeoutMs);
  afterAll(async () => {
    await gateway.close();
    await issuer.close();
  });

  /** The requests of the route at the upstream, without health checks. */
  const arrivedAt = (route: string): SeenRequest[] =>
    gateway.upstream.seen.filter((seen) => seen.url === `/${route}`);

  /** The `auth` field as an operator sends it. */
  function jwtAuth() {
    const { type, issuer: name, audience, jwks_url } = issuer.auth();
    return {
      type,
      issuer: name,
      audience: audience[0],
      jwks_url,
      algorithms: ['ES256'],
      required_claims: { tenant: ['blue', 'green'] },
    };
  }

  async function call(plane: number, route: string, token: string): Promise<Answer> {
    const { baseUrl = '' } = gateway.dataPlanes[plane] ?? {};
    const headers = { authorization: `Bearer ${token}` };
    return gateway.admin.at(baseUrl).proxy(route, { headers });
  }

  async function recordOf(answer: Answer): Promise<Resource> {
    const id = answer.headers.get('x-request-id') ?? '';
    return (await gateway.admin.get(`/v1/requests/${id}`)).resource();
  }

  it('by JWT works on every data plane, and the record has the subject but not the token', async () => {
    for (const plane of [0, 1]) {
      const token = await issuer.token({ tenant: 'blue', sub: `user-${plane}` });
      const answer = await call(plane, 'users', token);
      expect(answer.status).toBe(200);
      const seen = arrivedAt('users').at(-1);
      expect(seen?.headers['x-gateway-subject']).toBe(`user-${plane}`);
      expect(JSON.stringify(seen)).not.toContain(token.split('.')[2]);
      const record = await recordOf(answer);
      expect(record).toMatchObject({
        subject: `user-${plane}`,
        token_id: null,
        outcome: 'success',
        claims: { iss: ISSUER, aud: 'orders-api', tenant: 'blue' },
      });
      expect(JSON.stringify(record)).not.toContain(token.split('.')[2]);
    }
  });

  it('by JWT uses new keys of the issuer without a restart, on every data plane', async () => {
    const old = await issuer.token({ tenant: 'blue' });
    issuer.keys = [await createIssuerKey()];
    for (const plane of [0, 1]) {
      const token = await issuer.token({ tenant: 'green' });
      expect((await call(plane, 'users', token)).status).toBe(200);
      await expectRefusal(await call(plane, 'users', old), 401, 'authentication_failed');
    }
  });

  it('changes with the route: the former credential no longer works', async () => {
    const route = await gateway.route({ name: 'changing' });
    await gateway.settled();
    expect((await gateway.admin.proxy('changing')).status).toBe(200);
    await gateway.admin.patch(`/v1/routes/${route.id}`, { auth: jwtAuth() });
    await gateway.settled();
    await expectRefusal(await gateway.admin.proxy('changing'), 401, 'authentication_failed');
    expect((await call(1, 'changing', await issuer.token({ tenant: 'blue' }))).status).toBe(200);
  });
});
