import { startTokenIssuer, type TokenIssuer } from '@gateway/shared/test/token-issuer';
import { closedPort, startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import type { Explanation } from '@gateway/shared/explain/explanation';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import fc from 'fast-check';
import type { Client, Resource } from '../harness/client.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';
import type {
  Caller,
  GeneratedRequest,
  GeneratedRoute,
  GeneratedWay,
  ServiceName,
} from './generated-requests.ts';

/** Failures of one address in a minute, so few that the test passes the limit. */
const AUTH_FAILURE_LIMIT = 40;

type Credential = (route: GeneratedRoute) => Promise<PresentedCredential> | PresentedCredential;

interface PresentedCredential {
  /** Of the body of the explain call. */
  readonly asked: { readonly token_id?: string; readonly anonymous?: boolean };
  /** Headers of both. */
  readonly both?: Readonly<Record<string, string>>;
  /** Headers of the request only, in place of `token_id`. */
  readonly sent?: Readonly<Record<string, string>>;
}

/** One data plane, services, random routes, and callers of every kind. */
export interface ExplainWorld {
  readonly gateway: Gateway;
  readonly routes: readonly (GeneratedRoute & { readonly id: string; readonly name: string })[];
  readonly upstreams: readonly TestUpstream[];
  /** That of the service that gets copies. */
  readonly mirror: TestUpstream;
  /** How the caller of the request presents itself. */
  credentialOf(request: GeneratedRequest): Promise<PresentedCredential>;
  close(): Promise<void>;
}

export async function startExplainWorld(
  generated: readonly GeneratedRoute[],
): Promise<ExplainWorld> {
  const issuer = await startTokenIssuer();
  const gateway = await startGateway({
    dataPlanes: 1,
    env: { AUTH_FAILURE_LIMIT: String(AUTH_FAILURE_LIMIT), REGION: 'first' },
  });
  const upstreams = await Promise.all([startUpstream(), startUpstream(), startUpstream()]);
  const mirror = await startUpstream();
  const services = await createServices(gateway, upstreams);
  const { id: mirrorId } = await gateway.service({ url: mirror.url });
  const routes: (GeneratedRoute & { id: string; name: string })[] = [];
  const taken = new Set<string>();
  for (const [index, route] of generated.entries()) {
    const name = `explained-${index}`;
    const match = route.match.filter((way) => isNew(way, taken));
    const { answer, mirror: copies } = route;
    const isMirrored = copies !== null && answer === undefined;
    const mirrored = isMirrored ? { ...copies, service_id: mirrorId } : null;
    const body = {
      ...routeBody({ ...route, match }, name, services, issuer),
      mirror: mirrored,
    };
    const { id } = await gateway.admin.create('/v1/routes', body);
    routes.push({ ...route, match, id, name });
  }
  const credentials = await createCredentials(gateway, issuer);
  await gateway.settled();
  await gateway.settled('development');
  return {
    gateway,
    routes,
    upstreams,
    mirror,
    async credentialOf({ caller, route }) {
      const named = routes[route];
      if (named === undefined) throw new Error(`there is no route ${route}`);
      return credentials[caller](named);
    },
    async close() {
      await gateway.close();
      await issuer.close();
      for (const upstream of [...upstreams, mirror]) await upstream.close();
    },
  };
}

/** Whether a way has a condition, and can be told apart from the ways before it. */
function isNew(way: GeneratedWay, taken: Set<string>): boolean {
  const key = JSON.stringify(way);
  const isKnown = taken.has(key) || Object.values(way).flat().length === 0;
  taken.add(key);
  return !isKnown;
}

async function createServices(
  gateway: Gateway,
  [first, second, third]: readonly TestUpstream[],
): Promise<Record<ServiceName, string>> {
  const dead = `http://127.0.0.1:${await closedPort()}`;
  const weighed = [
    { url: first?.url, weight: 1 },
    { url: second?.url, weight: 2 },
  ];
  const regional = [
    { url: first?.url, region: 'third' },
    { url: second?.url, region: 'second' },
    { url: third?.url, region: 'second' },
  ];
  const made = await Promise.all([
    gateway.service({ url: undefined, upstreams: weighed }),
    gateway.service({ url: first?.url, credential: { type: 'bearer', token: 'of-the-upstream' } }),
    gateway.service({ url: undefined, upstreams: regional }),
    gateway.service({ url: dead }),
  ]);
  const [two, one, regions, none] = made.map(({ id }) => id);
  return { two: two ?? '', one: one ?? '', regions: regions ?? '', dead: none ?? '' };
}

function routeBody(
  { auth, services, answer, weights, rewrite: wanted, affinity, ...fields }: GeneratedRoute,
  name: string,
  ids: Readonly<Record<ServiceName, string>>,
  issuer: TokenIssuer,
): object {
  const { type, issuer: issuedBy, audience, jwks_url } = issuer.auth();
  const jwt = {
    type,
    issuer: issuedBy,
    audience: audience[0],
    jwks_url,
    algorithms: ['ES256'],
    required_claims: { tenant: ['blue'] },
  };
  const target =
    services.length === 1
      ? { service_id: ids[services[0] ?? 'one'] }
      : {
          versions: services.map((service, index) => ({
            name: `v${index}`,
            service_id: ids[service],
            weight: weights[index],
          })),
        };
  const retry = { backoff_ms: 0 };
  const claims = JSON.stringify(wanted).includes('jwt.claims');
  const rewrite = claims && auth !== 'jwt' ? null : wanted;
  const served = answer === undefined ? target : { ...answer, environment: 'production' };
  const belongs = answer === undefined ? affinity : null;
  return {
    name,
    affinity: belongs,
    ...served,
    auth: auth === 'jwt' ? jwt : { type: auth },
    retry,
    rewrite,
    ...fields,
  };
}

async function createCredentials(
  gateway: Gateway,
  issuer: TokenIssuer,
): Promise<Record<Caller, Credential>> {
  const soon = new Date(Date.now() + 1500).toISOString();
  const token = (fields: object = {}) => gateway.tokenClient({ scopes: ['proxy'], ...fields });
  const valid = await token();
  const second = await token({ environments: ['production'] });
  const otherRoute = await token({ routes: ['another'] });
  const noScope = await token({ scopes: ['routes:read'] });
  const development = await token({ environments: ['development'] });
  const expired = await token({ expires_at: soon });
  const revoked = await token();
  await gateway.admin.delete(`/v1/tokens/${revoked.tokenId}`);
  await new Promise((resolve) => setTimeout(resolve, Date.parse(soon) - Date.now()));
  const header = (headers: Record<string, string>): PresentedCredential => ({
    asked: {},
    both: headers,
  });
  const bearer = (secret: string) => header({ authorization: `Bearer ${secret}` });
  const jwt = async (sub: string) => bearer(await issuer.token({ tenant: 'blue', sub }));
  const known =
    (client: Client & { tokenId: string }): Credential =>
    ({ auth }) => {
      if (auth === 'jwt') return jwt(client.tokenId);
      const sent: Record<string, string> =
        auth === 'api_key'
          ? { 'x-api-key': client.token }
          : { authorization: `Bearer ${client.token}` };
      return { asked: { token_id: client.tokenId }, sent };
    };
  const expiredClaims = { tenant: 'blue', exp: 1_700_000_000 };
  return {
    valid: known(valid),
    second: known(second),
    other_route: known(otherRoute),
    no_scope: known(noScope),
    development: known(development),
    expired: () => bearer(expired.token),
    revoked: () => bearer(revoked.token),
    anonymous: () => ({ asked: { anonymous: true } }),
    garbage: () => header({ authorization: 'Basic Z2FyYmFnZQ==' }),
    password: () => {
      const pair = Buffer.from(`git:${valid.token}`).toString('base64');
      return header({ authorization: `Basic ${pair}` });
    },
    unknown_token: () => bearer(createTokenSecret()),
    wrong_header: ({ auth }) =>
      auth === 'api_key' ? bearer(valid.token) : header({ 'x-api-key': valid.token }),
    two_tokens: () => header({ authorization: `Bearer ${valid.token}`, 'x-api-key': second.token }),
    // Where it is for the upstream, it is refused.
    ntlm: ({ auth }) => ({
      asked: auth === 'api_key' ? { token_id: valid.tokenId } : {},
      both: { authorization: 'NTLM TlRMTVNTUAAB' },
      ...(auth === 'api_key' && { sent: { 'x-api-key': valid.token } }),
    }),
    jwt: () => jwt('user'),
    jwt_expired: async () => bearer(await issuer.token(expiredClaims)),
    jwt_wrong_tenant: async () => bearer(await issuer.token({ tenant: 'red', sub: 'user' })),
    jwt_other_issuer: async () => bearer(await issuer.token({ iss: 'https://other.test/' })),
  };
}

/** What the gateway says would happen to a request. */
export async function explain(
  { admin }: Gateway,
  routeId: string,
  body: object,
): Promise<Explanation> {
  const answer = await admin.post(`/v1/routes/${routeId}/explain`, body);
  if (answer.status !== 200) throw new Error(`explain: ${answer.status} ${answer.body}`);
  return answer.resource() as Resource & Explanation;
}

/** The same routes at each run with the same seed. */
export function sampled<T>(values: fc.Arbitrary<T>, count: number, seed: number): T[] {
  return fc.sample(values, { numRuns: count, seed });
}
