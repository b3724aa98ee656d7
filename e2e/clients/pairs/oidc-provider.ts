import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { eventually } from '@gateway/shared/test/eventually';
import { startIssuer, type Issuer } from '../harness/issuer.ts';
import { outcome, type Observations, type Pair, type StartedServer } from '../harness/pair.ts';
import { pinnedVersion } from '../harness/pinned-version.ts';
import { sendJson, startServer } from '../harness/server.ts';

const AUDIENCE = 'orders';
const ALGORITHMS = ['ES256', 'RS256', 'EdDSA'];
/** The gateway reads a key set at most once in this time for an unknown key. */
const COOLDOWN_MS = 10_000;

/** `oidc-provider` as the issuer for a route. Direct, the server verifies tokens itself, with jose. */
export const oidcProvider: Pair = {
  client: 'oidc-provider',
  version: pinnedVersion('oidc-provider'),
  variant: 'as an issuer',
  start: () => start([...ALGORITHMS, 'Ed25519'], {}, useTokens),
  direct: {
    'token signed with ES256': 'accepted',
    'token signed with RS256': 'accepted',
    'token signed with EdDSA': 'accepted',
    'token signed with Ed25519 (RFC 9864)': 'accepted',
    'token for another audience': '401',
    'opaque token': '401',
  },
  otherwise: {},
};

/** The same with a key set that is compressed whether the request accepts that or not. */
export const oidcProviderCompressed: Pair = {
  client: 'oidc-provider',
  version: pinnedVersion('oidc-provider'),
  variant: 'with a compressed key set',
  start: () => start(['ES256'], { compressed: true }, useCompressed),
  direct: { 'compressed key set': 'accepted' },
  otherwise: {},
};

/** The same with a key that is published when tokens are signed with it. */
export const oidcProviderRotation: Pair = {
  client: 'oidc-provider',
  version: pinnedVersion('oidc-provider'),
  variant: 'with a rotation',
  start: () => start(['ES256-1'], {}, useRotation),
  direct: {
    'token signed with a new key': 'accepted',
    'token signed with the key before': 'accepted',
  },
  otherwise: {},
};

/** How a token fares. */
type Present = (token: string) => Promise<string>;
type Use = (issuer: Issuer, present: Present) => Promise<Observations>;

async function start(
  kids: readonly string[],
  options: { readonly compressed?: true },
  use: Use,
): Promise<StartedServer> {
  const issuer = await startIssuer(options);
  for (const kid of kids) await issuer.publish(kid);
  const keys = createRemoteJWKSet(new URL(issuer.jwksUrl), { cooldownDuration: COOLDOWN_MS });
  const server = await startServer(async ({ request }, response) => {
    const { authorization = '', 'x-gateway-subject': subject } = request.headers;
    const claims = subject ?? (await verifiedSubject(authorization.replace('Bearer ', '')));
    sendJson(response, claims === 'app' ? 200 : 401, {});
  });
  const verifiedSubject = (token: string) =>
    jwtVerify(token, keys, { issuer: issuer.url, audience: AUDIENCE }).then(
      ({ payload }) => payload.sub,
      (error: unknown) => {
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      },
    );
  return {
    urls: [server.url],
    route: {
      auth: {
        type: 'jwt',
        issuer: issuer.url,
        audience: AUDIENCE,
        jwks_url: issuer.jwksUrl,
        algorithms: ALGORITHMS,
      },
    },
    use: ({ url }) =>
      use(issuer, async (token) => {
        const { status } = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
        return status === 200 ? 'accepted' : String(status);
      }),
    async close() {
      await server.close();
      await issuer.close();
    },
  };
}

const useTokens: Use = async (issuer, present) => {
  const presentSignedWith = async (kid: string, audience = AUDIENCE) =>
    present(await issuer.token(kid, audience));
  return {
    'token signed with ES256': await presentSignedWith('ES256'),
    'token signed with RS256': await presentSignedWith('RS256'),
    'token signed with EdDSA': await presentSignedWith('EdDSA'),
    'token signed with Ed25519 (RFC 9864)': await presentSignedWith('Ed25519'),
    'token for another audience': await presentSignedWith('ES256', 'invoices'),
    'opaque token': await presentSignedWith('opaque'),
  };
};

const useCompressed: Use = async (issuer, present) => ({
  'compressed key set': await present(await issuer.token('ES256', AUDIENCE)),
});

const useRotation: Use = async (issuer, present) => {
  const before = await issuer.token('ES256-1', AUDIENCE);
  await present(before);
  await issuer.publish('ES256-2');
  const after = await issuer.token('ES256-2', AUDIENCE);
  const accepted = eventually(
    async () => {
      const ended = await present(after);
      if (ended !== 'accepted') throw new Error(ended);
      return ended;
    },
    { deadlineMs: 2 * COOLDOWN_MS, intervalMs: 500 },
  );
  return {
    'token signed with a new key': await outcome(() => accepted),
    'token signed with the key before': await present(before),
  };
};
