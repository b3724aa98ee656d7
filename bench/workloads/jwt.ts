import { KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ManagementClient } from '@gateway/local-stack/stack/management-client';
import {
  AUDIENCE,
  createIssuerKey,
  ISSUER,
  signToken,
  startTokenIssuer,
  type TokenIssuer,
} from '@gateway/shared/test/token-issuer';
import { createRoute } from '../lab/management.ts';
import type { Site } from '../lab/site.ts';
import { runWrk } from '../load/wrk.ts';
import type { PeerKind } from '../peers/peer.ts';
import { workloadGateway, workloadHaproxy, workloadNginx } from './peers.ts';
import type { Workload } from './workload.ts';

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

const verifyingHaproxy = workloadHaproxy({
  haproxy: (site) => {
    const verified = `{ http_auth_bearer,jwt_verify("${ALGORITHM}","${publicKeyFile(site)}") -m int 1 }`;
    return { frontend: `http-request deny unless ${verified}` };
  },
  authorization: async () => `Bearer ${await newToken()}`,
});

/** The key set comes from an issuer in this process. */
function verifyingGateway(): PeerKind {
  let issuer: TokenIssuer | undefined;
  const configure = async (client: ManagementClient, url: string) => {
    issuer = await startTokenIssuer(ALGORITHM);
    issuer.keys = [key];
    const jwt = { issuer: ISSUER, audience: [AUDIENCE], jwks_url: issuer.jwksUrl };
    const auth = { type: 'jwt', ...jwt, algorithms: [ALGORITHM] };
    await createRoute(client, 'orders', { service: { url }, route: { auth } });
    return { authorization: `Bearer ${await newToken()}`, shape: {} };
  };
  const kind = workloadGateway({ gateway: { configure } });
  return {
    ...kind,
    async start(site) {
      const peer = await kind.start(site);
      const stop = async () => {
        await peer.stop();
        await issuer?.close();
      };
      return { ...peer, stop };
    },
  };
}

/** Tokens of an issuer, verified with its public key. */
export const jwt: Workload = {
  name: 'jwt',
  unit: 'request',
  description:
    'Tokens signed with ES256. nginx verifies none. HAProxy verifies each signature, checks no claims and has no cache. ' +
    'The gateway checks signature and claims, and keeps the result. Caddy has no module for it.',
  tools: [],
  upstream: 'nginx',
  peers: [workloadNginx({}), verifyingHaproxy, verifyingGateway()],
  loads: [
    {
      name: 'the same token',
      run: ({ url, authorization }, { part, site: { signal } }) =>
        runWrk({ url, authorization, signal, connections: 32, seconds: secondsOf(part) }),
    },
    {
      name: 'always a new token',
      async open() {
        // For the lead-in and the measured turn: signing takes CPU time from the load.
        while (unused.length < 2 * SECONDS * TOKENS_PER_SECOND) unused.push(await newToken());
        return { release: () => undefined };
      },
      async run({ url, authorization }, { part, site: { folder, signal } }) {
        const seconds = secondsOf(part);
        const tokens = unused.splice(0, seconds * TOKENS_PER_SECOND);
        const tokensFile = path.join(folder, 'tokens');
        await writeFile(tokensFile, tokens.join('\n'));
        return runWrk({ url, authorization, signal, connections: 32, seconds, tokensFile });
      },
    },
  ],
};

const secondsOf = (part: number) => Math.ceil(SECONDS * part);

/** Writes the public key into the folder of the run. */
function publicKeyFile({ folder }: Site): string {
  const file = path.join(folder, 'jwt-public-key.pem');
  writeFileSync(file, KeyObject.from(key.publicKey).export({ type: 'spki', format: 'pem' }));
  return file;
}
