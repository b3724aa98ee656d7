import type { SnapshotAuth } from '@gateway/shared/snapshot/schema';
import type { ReadSnapshot } from '@gateway/shared/snapshot/signed-snapshot';
import { testSnapshot, testToken } from '@gateway/shared/test/snapshot';
import {
  createIssuerKey,
  signToken,
  type IssuerKey,
  type TokenIssuer,
} from '@gateway/shared/test/token-issuer';
import { corsOf } from './cors-world.ts';
import type { Fields } from './refusal-shapes.ts';
import { createTokenSecret } from '@gateway/shared/tokens/secret';

/** A caller whose credential no closed route accepts. */
export interface RefusedCaller {
  readonly fields: Fields;
  /** The environments of its valid token; undefined: it has none. */
  readonly environments?: readonly string[];
}

/** The environments with routes of every type; `NOWHERE` is not one. */
export const ENVIRONMENTS = ['production', 'development'] as const;
export const NOWHERE = 'nowhere';
/** A route of this type that cannot be used because its service is missing. */
export const unusable = (type: string) => `${type}-unusable`;
/** The name of a route of which not even the authentication can be read. */
export const UNREADABLE = 'unreadable';
/** The name of a route that no environment has. */
export const MISSING = 'missing';

/** One route of each type of authentication. A new type does not compile until it is here. */
export function authOfEachType(issuer: TokenIssuer): Record<SnapshotAuth['type'], SnapshotAuth> {
  return {
    token: { type: 'token' },
    api_key: { type: 'api_key' },
    none: { type: 'none' },
    jwt: issuer.auth(),
  };
}

/** Tokens of the world: what each covers. */
const TOKENS = {
  everything: {},
  expired: { expires_at_ms: 1 },
  otherEnvironment: { environments: ['staging'] },
  otherEnvironments: { environments: ['staging', 'qa'] },
  otherRoute: { routes: ['another'] },
  otherScope: { scopes: ['routes:read', 'config:read'] },
} satisfies Record<string, Parameters<typeof testToken>[1]>;

export type TokenName = keyof typeof TOKENS;

export interface RefusalWorld {
  readonly snapshots: readonly ReadSnapshot[];
  readonly secrets: Readonly<Record<TokenName, string>>;
  /** The callers of the table, by what they present. */
  readonly callers: Readonly<Record<string, RefusedCaller>>;
}

/** Two environments with a route of each type, named by it, and callers without a right to any of them. */
export async function refusalWorld(issuer: TokenIssuer, upstream: string): Promise<RefusalWorld> {
  const names = Object.keys(TOKENS) as TokenName[];
  const secrets = Object.fromEntries(names.map((name) => [name, createTokenSecret()])) as Record<
    TokenName,
    string
  >;
  const tokens = names.map((name) => ({
    ...testToken(secrets[name], TOKENS[name]),
    id: `tok_${name}`,
  }));
  const snapshots = ENVIRONMENTS.map((environment): ReadSnapshot => {
    const base = testSnapshot(
      {
        upstreams: [upstream],
        methods: ['GET', 'OPTIONS'],
        max_body_bytes: 10,
        timeout_ms: 300_000,
        grpc_errors: 'trailers',
      },
      secrets.everything,
    );
    const routes = base.routes.flatMap((route) =>
      Object.entries(authOfEachType(issuer)).map(([name, auth]) => {
        // One has pages that may call it. Only these may learn of it.
        const cors = name === 'api_key' ? { cors: corsOf({ origins: ['https://app.test'] }) } : {};
        return { ...route, id: `rte_${environment}_${name}`, name, auth, ...cors };
      }),
    );
    const broken = routes.map((route) => ({
      ...route,
      id: `${route.id}_unusable`,
      name: unusable(route.name),
      versions: [{ name: null, service_id: 'svc_gone', weight: 1 }],
    }));
    const unreadable = [
      {
        kind: 'route',
        id: 'rte_later',
        name: UNREADABLE,
        auth: undefined,
        match: [],
        reason: 'auth.type is unknown',
      } as const,
    ];
    return { ...base, environment, routes: [...routes, ...broken], tokens, unreadable };
  });
  return { snapshots, secrets, callers: callersOf(secrets, await forgedJwts(issuer)) };
}

/** JWTs that no key of the issuer signed, by what is wrong with them. */
async function forgedJwts(issuer: TokenIssuer): Promise<Readonly<Record<string, string>>> {
  const [own] = issuer.keys as [IssuerKey];
  const other = await createIssuerKey();
  const genuine = await issuer.token();
  const [head = '', payload = ''] = genuine.split('.');
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  return {
    'a JWT of an unknown key': await signToken(other),
    'a JWT of another key with the same id': await signToken(
      other,
      {},
      { header: { kid: own.kid } },
    ),
    'a JWT of another issuer': await signToken(other, { iss: 'https://other.test/' }),
    'an unsigned JWT': `${none}.${payload}.`,
    'a JWT without its signature': `${head}.${payload}.`,
    'a JWT whose payload was changed': genuine.replace(payload, `${payload.slice(0, -4)}AAAA`),
    'three dots': 'a.b.c',
    'a JWT that is too long': `${head}.${'a'.repeat(9_000)}.c`,
  };
}

function basic(pair: string): string {
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

function callersOf(
  secrets: RefusalWorld['secrets'],
  jwts: Readonly<Record<string, string>>,
): Record<string, RefusedCaller> {
  const unknown = createTokenSecret();
  const plain: Record<string, Fields> = {
    'no credential': {},
    'an empty Authorization': { authorization: '' },
    'the scheme alone': { authorization: 'Bearer' },
    'another scheme': { authorization: 'Basic dXNlcjpwYXNz' },
    'a token without a scheme': { authorization: secrets.everything },
    'a malformed token': { authorization: 'Bearer gwt_short' },
    'a word': { authorization: 'Bearer secret' },
    'an empty key': { 'x-api-key': '' },
    'a word as key': { 'x-api-key': 'secret' },
    'a JWT as key': { 'x-api-key': jwts['three dots'] ?? '' },
    'a word in both': { authorization: 'Bearer secret', 'x-api-key': 'secret' },
    'an unknown or revoked token': { authorization: `Bearer ${unknown}` },
    'an unknown key': { 'x-api-key': unknown },
    'a word, and an unknown key': { authorization: 'Bearer secret', 'x-api-key': unknown },
    'an expired token': { authorization: `Bearer ${secrets.expired}` },
    'an expired key': { 'x-api-key': secrets.expired },
    'a word, and an expired key': { authorization: 'Bearer a.b.c', 'x-api-key': secrets.expired },
    'an unknown token in both': { authorization: `Bearer ${unknown}`, 'x-api-key': unknown },
    'two tokens': {
      authorization: `Bearer ${secrets.everything}`,
      'x-api-key': secrets.otherRoute,
    },
    'a browser': { 'sec-fetch-mode': 'cors' },
    'a browser with another scheme': {
      authorization: 'Basic dXNlcjpwYXNz',
      'sec-fetch-mode': 'cors',
    },
    'an unknown token as password': { authorization: basic(`git:${unknown}`) },
    'an expired token as password': { authorization: basic(`git:${secrets.expired}`) },
    'a token as user name': { authorization: basic(`${secrets.everything}:`) },
    'two tokens in Basic': {
      authorization: basic(`${secrets.otherRoute}:${secrets.everything}`),
    },
    'a token as password, and another one': {
      authorization: basic(`git:${secrets.everything}`),
      'x-api-key': secrets.otherRoute,
    },
    'a key, and another token as user name': {
      authorization: basic(`${secrets.otherRoute}:`),
      'x-api-key': secrets.everything,
    },
    'a valid token, and an unknown key': {
      authorization: `Bearer ${secrets.everything}`,
      'x-api-key': unknown,
    },
  };
  const callers: Record<string, RefusedCaller> = {};
  for (const [name, fields] of Object.entries(plain)) callers[name] = { fields };
  for (const [name, jwt] of Object.entries(jwts)) {
    callers[name] = { fields: { authorization: `Bearer ${jwt}` } };
    callers[`${name}, and an unknown key`] = {
      fields: { authorization: `Bearer ${jwt}`, 'x-api-key': unknown },
    };
  }
  const outOfReach = ['otherEnvironment', 'otherEnvironments', 'otherRoute', 'otherScope'] as const;
  for (const name of outOfReach) {
    const { environments } = testToken('', TOKENS[name]);
    const secret = secrets[name];
    const forged = jwts['a JWT of an unknown key'] ?? '';
    callers[`the token ${name}`] = { environments, fields: { authorization: `Bearer ${secret}` } };
    callers[`the token ${name} as password`] = {
      environments,
      fields: { authorization: basic(`git:${secret}`) },
    };
    callers[`the token ${name} in both`] = {
      environments,
      fields: { authorization: `Bearer ${secret}`, 'x-api-key': secret },
    };
    callers[`the token ${name} as key`] = { environments, fields: { 'x-api-key': secret } };
    callers[`the token ${name} as key, and a forged JWT`] = {
      environments,
      fields: { authorization: `Bearer ${forged}`, 'x-api-key': secret },
    };
  }
  return callers;
}
