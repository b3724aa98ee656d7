import { KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  AUDIENCE,
  createIssuerKey,
  ISSUER,
  signToken,
  startTokenIssuer,
} from '@gateway/shared/test/token-issuer';
import { createRoute } from '../lab/management.ts';
import { runWrk } from '../load/wrk.ts';
import { gateway } from '../peers/gateway.ts';
import { haproxy, nginx } from '../peers/servers.ts';
import { wrkLoad, type Workload } from './workload.ts';

const ALGORITHM = 'ES256';
const SECONDS = 2;
/** More than a gateway verifies, so that it gets none twice. */
const TOKENS_PER_SECOND = 10_000;
/** Tokens outlive a run. */
const LIFETIME_SECONDS = 3600;

const key = await createIssuerKey(ALGORITHM);

/** Signed ahead; none is sent to two turns. */
const unused: string[] = [];

const newToken = () => signToken(key, { exp: Math.floor(Date.now() / 1000) + LIFETIME_SECONDS });
const authorization = async () => `Bearer ${await newToken()}`;

/** The key set comes from an issuer in this process. */
const verifyingGateway = gateway({
  async configure(client, site) {
    const issuer = await startTokenIssuer(ALGORITHM);
    site.defer(() => issuer.close());
    issuer.keys = [key];
    const jwt = { issuer: ISSUER, audience: [AUDIENCE], jwks_url: issuer.jwksUrl };
    const auth = { type: 'jwt', ...jwt, algorithms: [ALGORITHM] };
    await createRoute(client, 'orders', { service: { url: site.upstreamUrl }, route: { auth } });
    return { authorization: await authorization() };
  },
});

/** HAProxy reads the public key from a file in the folder of the run. */
function verifyBy(folder: string): string {
  const file = path.join(folder, 'jwt-public-key.pem');
  writeFileSync(file, KeyObject.from(key.publicKey).export({ type: 'spki', format: 'pem' }));
  const verified = `http_auth_bearer,jwt_verify("${ALGORITHM}","${file}") -m int 1`;
  return `http-request deny unless { ${verified} }`;
}

/** Tokens of an issuer, verified with its public key. */
export const jwt: Workload = {
  name: 'jwt',
  unit: 'request',
  description:
    'Tokens signed with ES256. nginx verifies none. HAProxy verifies each signature, checks no claims and has no cache. ' +
    'The gateway checks signature and claims, and keeps the result. Caddy has no module for it.',
  upstream: 'nginx',
  peers: [
    nginx({}),
    haproxy({ haproxy: (folder) => ({ frontend: verifyBy(folder) }), authorization }),
    verifyingGateway,
  ],
  loads: [
    wrkLoad({ name: 'the same token', seconds: SECONDS }),
    {
      name: 'always a new token',
      async open() {
        // For the lead-in and the measured turn: signing takes CPU time from the load.
        while (unused.length < 2 * SECONDS * TOKENS_PER_SECOND) unused.push(await newToken());
        return {};
      },
      async run(peer, part, { folder, signal }) {
        const seconds = Math.ceil(SECONDS * part);
        const tokensFile = path.join(folder, 'tokens');
        await writeFile(tokensFile, unused.splice(0, seconds * TOKENS_PER_SECOND).join('\n'));
        return runWrk(peer, { seconds, tokensFile }, signal);
      },
    },
  ],
};
