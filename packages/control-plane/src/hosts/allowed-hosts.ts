import { isIP } from 'node:net';
import {
  bareHost,
  isDeniedAddress,
  type AddressRanges,
} from '@gateway/shared/net/upstream-addresses';
import type { ResolveName } from './resolve-names.ts';
import { invalidRequest } from '../http/input.ts';

/** The rules for the hosts of upstreams and of JWT key sets, and for those of routes. */
export interface HostRules {
  readonly denied: AddressRanges;
  readonly resolveName: ResolveName;
  /** Those of the gateway itself, which no route may have in `match`. */
  readonly reserved: readonly string[];
}

/** A valid URL in a body, and the path of its field. */
export interface UrlOfBody {
  readonly path: string;
  readonly url: string;
}

/**
 * Refuses URLs whose host has any denied address. A name that does not resolve is accepted, because data planes check
 * again at every connect. The call waits for name servers, so never make it within a transaction. Check the caller's
 * rights first, because the result reveals something about the names.
 *
 * @throws GatewayError invalid_request
 */
export async function requireAllowedHosts(
  urls: readonly UrlOfBody[],
  { denied, resolveName }: Pick<HostRules, 'denied' | 'resolveName'>,
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
      // The address itself would reveal internal names.
      const message = `must not be at ${host}: UPSTREAM_DENY_CIDRS refuses an address of it`;
      return { path, message };
    });
  if (details.length > 0) throw invalidRequest(details);
}
