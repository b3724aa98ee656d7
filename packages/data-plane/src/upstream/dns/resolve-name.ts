import { ADDRCONFIG, promises as dns, type LookupAddress } from 'node:dns';
import { pause, type Clock } from '@gateway/shared/clock';

/** The addresses of a name, at least one, and how long they are valid. */
export interface ResolvedName {
  readonly addresses: readonly LookupAddress[];
  readonly ttlMs: number;
}

/** Looks up the addresses of a name. Rejects with an error that has a code if there are none. */
export type ResolveName = (hostname: string) => Promise<ResolvedName>;

/** The resolver of the system gives no time to live; Envoy uses the same value. */
const SYSTEM_TTL_MS = 5_000;
/** A time to live of 0 must not cause a lookup for each connection. */
const MIN_TTL_MS = 1_000;
/** A changed name is noticed after this time, even if its time to live was longer. */
const MAX_TTL_MS = 60_000;
const SERVER_TIMEOUT_MS = 1_000;
const SERVER_TRIES = 2;
/** How long a name with IPv4 addresses waits for its IPv6 ones (RFC 8305 section 3, Resolution Delay). */
const RESOLUTION_DELAY_MS = 50;
/** Names of this machine, which are not sent to a name server (RFC 6761 section 6.3). */
const LOOPBACK_NAME = /^(?:.+\.)?localhost\.?$/i;

/** Uses the resolver of the system, with its hosts file, name servers and search list. */
export const resolveBySystem: ResolveName = async (hostname) => {
  const addresses = await dns.lookup(hostname, { all: true, hints: ADDRCONFIG });
  return { addresses, ttlMs: SYSTEM_TTL_MS };
};

/**
 * Queries name servers directly, without a search list, and uses the time to live of their answers within bounds. IPv4
 * addresses come first.
 *
 * @param servers addresses, with or without a port
 */
export function resolveByServers(servers: readonly string[], clock: Clock): ResolveName {
  const resolver = new dns.Resolver({ timeout: SERVER_TIMEOUT_MS, tries: SERVER_TRIES });
  resolver.setServers(servers);
  return async (hostname) => {
    if (LOOPBACK_NAME.test(hostname)) return resolveBySystem(hostname);
    const pending6 = settled(resolver.resolve6(hostname, { ttl: true }), 6);
    const answer4 = await settled(resolver.resolve4(hostname, { ttl: true }), 4);
    const late = pause(clock, RESOLUTION_DELAY_MS).then(() => NOTHING);
    const answer6 = await (answer4.found.length > 0 ? Promise.race([pending6, late]) : pending6);
    const found = [...answer4.found, ...answer6.found];
    if (found.length === 0) throw answer4.error ?? answer6.error ?? new Error('no addresses');
    const ttlMs = 1000 * Math.min(...found.map(({ ttl }) => ttl));
    return {
      addresses: found.map(({ address, family }) => ({ address, family })),
      ttlMs: Math.min(MAX_TTL_MS, Math.max(MIN_TTL_MS, ttlMs)),
    };
  };
}

interface Answer {
  readonly found: readonly (LookupAddress & { readonly ttl: number })[];
  /** Why there are no addresses; undefined if the answer has not arrived yet. */
  readonly error?: Error;
}

const NOTHING: Answer = { found: [] };

async function settled(
  query: Promise<readonly { address: string; ttl: number }[]>,
  family: 4 | 6,
): Promise<Answer> {
  try {
    const found = await query;
    return { found: found.map(({ address, ttl }) => ({ address, ttl, family })) };
  } catch (error) {
    // Node rejects with its own errors only.
    return { found: [], error: error as Error };
  }
}
