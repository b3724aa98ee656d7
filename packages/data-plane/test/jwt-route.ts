import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { startTestDataPath } from './data-path.ts';
import type { closeAfterEach } from '@gateway/shared/test/opened';
import { startTokenIssuer, type Claims, type TokenIssuer } from '@gateway/shared/test/token-issuer';
import { startUpstream } from '@gateway/shared/test/upstream';

/** A data path with a route that accepts the JWTs of a real issuer. `opened` closes everything. */
export async function startJwtRoute(
  opened: ReturnType<typeof closeAfterEach>,
  auth: Parameters<TokenIssuer['auth']>[0] = {},
  fields: Partial<SnapshotRoute> = {},
  options: Parameters<typeof startTestDataPath>[1] & {
    readonly answer?: TokenIssuer['answer'];
  } = {},
) {
  const upstream = opened(await startUpstream());
  const issuer = opened(await startTokenIssuer());
  issuer.answer = options.answer;
  const route = { upstreams: [upstream.url], auth: issuer.auth(auth), ...fields };
  const gateway = opened(await startTestDataPath(route, options));
  const call = (token: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/v1/proxy/test`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
  return {
    upstream,
    issuer,
    route,
    gateway,
    call,
    callWith: async (claims: Claims = {}) => call(await issuer.token(claims)),
  };
}
