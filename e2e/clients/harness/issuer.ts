import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { Provider } from 'oidc-provider';
import { listen } from '@gateway/shared/test/upstream';

export interface Issuer {
  readonly url: string;
  readonly jwksUrl: string;
  /** Publishes one more key. Its id is the name of its algorithm, with a number behind that. */
  publish(kid: string): Promise<void>;
  /** A token signed with the key of this id; `opaque` is a token that is no JWT. */
  token(kid: string, audience: string): Promise<string>;
  close(): Promise<void>;
}

const CLIENT = { client_id: 'app', client_secret: 'secret-of-the-client' };
/** Each issuer has at least one key of this kind. */
const ID_TOKENS = { id_token_signed_response_alg: 'ES256' };
const TOKEN_SECONDS = 600;

/** Keeps nothing: JWTs and opaque tokens are issued all the same. */
class NoStore {
  async upsert(): Promise<void> {}
  async find(): Promise<void> {}
  async consume(): Promise<void> {}
  async destroy(): Promise<void> {}
}

/** An `oidc-provider` that gives an application its tokens (client credentials, RFC 9068). */
export async function startIssuer({ compressed = false } = {}): Promise<Issuer> {
  const keys: JWK[] = [];
  let answer: RequestListener = (_request, response) => void response.destroy();
  const { url, close } = await listen(
    createServer((request, response) => {
      if (compressed && request.url === '/jwks') compressBody(response);
      answer(request, response);
    }),
  );
  return {
    url,
    jwksUrl: `${url}/jwks`,
    close,
    async publish(kid) {
      const [alg = ''] = kid.split('-');
      const { privateKey } = await generateKeyPair(alg, { extractable: true });
      keys.push({ ...(await exportJWK(privateKey)), kid, alg, use: 'sig' });
      answer = new Provider(url, configuration(keys)).callback();
    },
    async token(kid, audience) {
      const response = await fetch(`${url}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(Object.values(CLIENT).join(':'))}` },
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          resource: `urn:${kid}:${audience}`,
        }),
      });
      return ((await response.json()) as { access_token: string }).access_token;
    },
  };
}

function configuration(keys: readonly JWK[]) {
  const getResourceServerInfo = (_context: unknown, resource: string) => {
    const [, kid = '', audience] = resource.split(':');
    const [alg] = kid.split('-');
    const server = { scope: '', audience, accessTokenTTL: TOKEN_SECONDS };
    return kid === 'opaque'
      ? { ...server, accessTokenFormat: 'opaque' }
      : { ...server, accessTokenFormat: 'jwt', jwt: { sign: { alg, kid } } };
  };
  return {
    adapter: NoStore,
    jwks: { keys },
    clients: [
      {
        ...CLIENT,
        ...ID_TOKENS,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    ttl: { ClientCredentials: TOKEN_SECONDS },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: { enabled: true, getResourceServerInfo },
    },
  };
}

/** Compresses whatever the response gets as its body, also if the request does not accept that. */
function compressBody(response: ServerResponse): void {
  const end = response.end.bind(response);
  response.end = ((body: string) => {
    response.removeHeader('content-length');
    response.setHeader('content-encoding', 'gzip');
    return end(gzipSync(body));
  }) as typeof response.end;
}
