import { createServer, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import type { JwtAlgorithm } from '../src/tokens/jwt-algorithms.ts';
import type { SnapshotAuth } from '../src/snapshot/schema.ts';
import { listen } from './upstream.ts';

export const ISSUER = 'https://issuer.test/';
export const AUDIENCE = 'orders-api';

type JwtAuthFields = Extract<SnapshotAuth, { type: 'jwt' }>;

/** Claims of a token; undefined ones are left out. */
export type Claims = Readonly<Record<string, unknown>>;

export interface IssuerKey {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly jwk: JWK;
}

/** A token issuer that serves its key set over HTTP on loopback. */
export interface TokenIssuer {
  readonly jwksUrl: string;
  /** The published keys. A test rotates keys by changing the list. */
  keys: IssuerKey[];
  /** How often the key set was requested. */
  fetches: number;
  /** If set, answers instead of the key set. */
  answer: ((response: ServerResponse) => void) | undefined;
  /** A token of this issuer, signed with its first key and valid for five minutes. */
  token(claims?: Claims, options?: TokenOptions): Promise<string>;
  /** `auth` of a route that accepts its tokens. */
  auth(fields?: Partial<JwtAuthFields>): JwtAuthFields;
  /** Stops listening. */
  close(): Promise<void>;
}

export interface TokenOptions {
  readonly key?: IssuerKey;
  /** Additional or replaced fields of the token's header. */
  readonly header?: Readonly<Record<string, unknown>>;
  /** Issue time, ms since the Unix epoch. */
  readonly nowMs?: number;
}

let made = 0;

/** A new key pair. */
export async function createIssuerKey(alg: JwtAlgorithm = 'ES256'): Promise<IssuerKey> {
  const pair = await generateKeyPair(alg, { extractable: true });
  const kid = `key-${(made += 1)}`;
  return { ...pair, alg, kid, jwk: { ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' } };
}

/** A token of `ISSUER` for `AUDIENCE`, valid for five minutes; `claims` override this. */
export function signToken(
  key: IssuerKey,
  claims: Claims = {},
  { header = {}, nowMs = Date.now() }: TokenOptions = {},
): Promise<string> {
  const nowSeconds = Math.floor(nowMs / 1000);
  const usual = { iss: ISSUER, aud: AUDIENCE, sub: 'user-1', exp: nowSeconds + 300 };
  return new SignJWT({ ...usual, iat: nowSeconds, ...claims })
    .setProtectedHeader({ alg: key.alg, kid: key.kid, ...header })
    .sign(key.privateKey);
}

export async function startTokenIssuer(alg: JwtAlgorithm = 'ES256'): Promise<TokenIssuer> {
  const server = createServer((_request, response) => {
    issuer.fetches += 1;
    if (issuer.answer !== undefined) {
      issuer.answer(response);
      return;
    }
    response.setHeader('content-type', 'application/jwk-set+json');
    response.end(JSON.stringify({ keys: issuer.keys.map((key) => key.jwk) }));
  });
  const { url, close } = await listen(server);
  const issuer: TokenIssuer = {
    jwksUrl: `${url}/jwks.json`,
    keys: [await createIssuerKey(alg)],
    fetches: 0,
    answer: undefined,
    token(claims, options = {}) {
      const key = options.key ?? issuer.keys[0];
      if (key === undefined) throw new Error('the issuer has no key');
      return signToken(key, claims, options);
    },
    auth: (fields = {}) => ({
      type: 'jwt',
      issuer: ISSUER,
      audience: [AUDIENCE],
      jwks_url: issuer.jwksUrl,
      algorithms: ['RS256', 'ES256'],
      required_claims: [],
      ...fields,
    }),
    close,
  };
  return issuer;
}
