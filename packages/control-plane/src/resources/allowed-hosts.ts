import { isIP } from 'node:net';
import {
  bareHost,
  isDeniedAddress,
  type AddressRanges,
} from '@gateway/shared/net/upstream-addresses';
import type { ResolveName } from './resolve-names.ts';
import { invalidRequest } from '../http/input.ts';

/** Where upstreams and the key sets of issuers may be. */
export interface HostRules {
  readonly denied: AddressRanges;
  readonly resolveName: ResolveName;
}

/** A URL of a body, which has passed its schema, by the path of its field. */
export interface UrlOfBody {
  readonly path: string;
  readonly url: string;
}

/**
 * Refuses URLs that name a host of which any address is denied. A name that does not resolve now is
 * taken: data planes look at every connect. Waits for name servers, so never within a transaction, and
 * only for a caller who may set these URLs, as its answer tells of the names in them.
 *
 * @throws GatewayError invalid_request
 */
export async function requireAllowedHosts(
  urls: readonly UrlOfBody[],
  { denied, resolveName }: HostRules,
): Promise<void> {
  const named = urls
    .map(({ path, url }) => ({ path, host: bareHost(new URL(url)) }))
    .filter(({ host }) => isIP(host) === 0);
  const hosts = [...new Set(named.map(({ host }) => host))];
  const resolved = await Promise.all(hosts.map(resolveName));
  const refused = new Set(
    hosts.filter((_host, at) => resolved[at]?.some((address) => isDeniedAddress(address, denied))),
  );
  const details = named
    .filter(({ host }) => refused.has(host))
    .map(({ path, host }) => {
      // Not which address, as that would tell of names inside.
      const message = `must not be at ${host}: it has an address that UPSTREAM_DENY_CIDRS refuses`;
      return { path, message };
    });
  if (details.length > 0) throw invalidRequest(details);
}
