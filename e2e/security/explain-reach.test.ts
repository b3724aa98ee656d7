import type { Explanation } from '@gateway/shared/explain/explanation';
import { eventually } from '@gateway/shared/test/eventually';
import {
  createIssuerKey,
  startTokenIssuer,
  type TokenIssuer,
} from '@gateway/shared/test/token-issuer';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, Client } from '../harness/client.ts';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';

const startTimeoutMs = 60_000;
const ENVIRONMENTS = ['production', 'development'] as const;

/** The route `orders` exists in both environments, each with an upstream of its own. */
describe('an operator of development that explains its route', () => {
  let gateway: BorrowedGateway;
  let upstreams: TestUpstream[];
  let issuer: TokenIssuer;
  let jwtRouteId: string;
  let routeIds: string[];
  let operator: Client;
  let everywhere: Client & { tokenId: string };
  let ofProduction: Client & { tokenId: string };
  let caller: Client & { tokenId: string };
  let otherCaller: Client & { tokenId: string };

  beforeAll(async () => {
    gateway = await borrowGateway();
    upstreams = await Promise.all(ENVIRONMENTS.map(() => startUpstream()));
    routeIds = [];
    for (const [index, environment] of ENVIRONMENTS.entries()) {
      const url = upstreams[index]?.url;
      const { id } = await gateway.service({ environment, url });
      routeIds.push((await gateway.route({ name: 'orders', service_id: id })).id);
    }
    issuer = await startTokenIssuer();
    const { type, issuer: issuedBy, audience, jwks_url } = issuer.auth();
    const auth = { type, issuer: issuedBy, audience: audience[0], jwks_url };
    const environment = 'development';
    jwtRouteId = (await gateway.route({ name: 'with-jwt', environment, auth })).id;
    const inDevelopment = { environments: [environment], routes: ['orders', 'with-jwt'] };
    operator = await gateway.tokenClient({ ...inDevelopment, scopes: ['config:read', 'proxy'] });
    caller = await gateway.tokenClient({ ...inDevelopment, scopes: ['proxy'] });
    otherCaller = await gateway.tokenClient({ ...inDevelopment, scopes: ['proxy'] });
    ofProduction = await gateway.tokenClient({ environments: ['production'], scopes: ['proxy'] });
    everywhere = await gateway.tokenClient({ scopes: ['proxy'] });
    await gateway.settled('production');
    await gateway.settled('development');
  }, startTimeoutMs);
  afterAll(async () => {
    await gateway.close();
    await issuer.close();
    for (const upstream of upstreams) await upstream.close();
  });

  const explain = (question: object) =>
    operator.post(`/v1/routes/${routeIds[1]}/explain`, question);

  /** The answer speaks of the route of development alone. */
  function explained(answer: Answer): Explanation {
    expect(answer.status).toBe(200);
    expect(answer.body).not.toContain(routeIds[0]);
    expect(answer.body).not.toContain(upstreams[0]?.url);
    const said = answer.resource() as unknown as Explanation;
    expect(said).toMatchObject({ environment: 'development', route_id: routeIds[1] });
    return said;
  }

  it('may use the secret of any token that it holds, and reads of its own route only', async () => {
    const as = async ({ token }: Client) => {
      const headers = { Authorization: `Bearer ${token}` };
      return explained(await explain({ headers }));
    };
    const refused = await as(ofProduction);
    expect(refused.authentication.refused_by).toBe('environment_not_covered');
    expect(refused.upstreams).toBeNull();
    const forwarded = await as(everywhere);
    expect(forwarded.outcome.decision).toBe('forward');
    expect(forwarded.upstreams?.map(({ url }) => url)).toEqual([upstreams[1]?.url]);
  });

  it('reads the rule that refuses a JWT, which its caller learns only if the issuer signed it', async () => {
    const as = async (jwt: string) => {
      const headers = { Authorization: `Bearer ${jwt}` };
      const answer = await operator.post(`/v1/routes/${jwtRouteId}/explain`, { headers });
      const { authentication, outcome } = answer.resource() as unknown as Explanation;
      return [authentication.refused_by, outcome.reason];
    };
    const forged = await issuer.token({}, { key: await createIssuerKey() });
    // The data plane fetches the keys when it first serves the route.
    await eventually(async () => {
      expect(await as(forged)).toEqual([
        'jwt_not_verified',
        'The request has no valid token in a header that the route accepts.',
      ]);
    });
    expect(await as(await issuer.token({ exp: 1 }))).toEqual([
      'jwt_refused',
      'The token has expired.',
    ]);
    expect(await as(caller.token)).toEqual([
      'no_token_in_credential',
      'The request has no valid token in a header that the route accepts.',
    ]);
  });

  it('reads the keys of the caller that it names, and of no other', async () => {
    const headers = { 'Idempotency-Key': 'order-17' };
    const sent = await caller.proxy('orders', { headers, body: '{}' });
    expect(sent.status).toBe(200);
    const stateFor = async (fields: { token_id?: string; anonymous?: boolean }) =>
      explained(await explain({ method: 'POST', headers, body: '{}', ...fields })).idempotency
        ?.state;
    await eventually(async () =>
      expect(await stateFor({ token_id: caller.tokenId })).toBe('stored'),
    );
    expect(await stateFor({ token_id: otherCaller.tokenId })).toBe('free');
    expect(await stateFor({ anonymous: true })).toBeUndefined();
  });
});
