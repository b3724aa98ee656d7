import { ADDRCONFIG, promises as dns, type LookupAddress } from 'node:dns';
import { pause, type Clock } from '@gateway/shared/clock';

/** What a name was resolved to: one address at least, and for how long that may be taken for true. */
export interface ResolvedName {
  readonly addresses: readonly LookupAddress[];
  readonly ttlMs: number;
}

/** Asks for the addresses of a name; rejects with an error that has a code where there are none. */
export type ResolveName = (hostname: string) => Promise<ResolvedName>;

/** The machine tells no time to live; Envoy asks as often. */
const SYSTEM_TTL_MS = 5_000;
/** A time to live of 0 is no reason to ask at every connect. */
const MIN_TTL_MS = 1_000;
/** A name that is moved is followed this soon, however long it was to live. */
const MAX_TTL_MS = 60_000;
const SERVER_TIMEOUT_MS = 1_000;
const SERVER_TRIES = 2;
/** How long a name with IPv4 addresses waits for its IPv6 ones (RFC 8305 section 3, Resolution Delay). */
const RESOLUTION_DELAY_MS = 50;
/** These are this machine, and no name server is asked (RFC 6761 section 6.3). */
const LOOPBACK_NAME = /^(?:.+\.)?localhost\.?$/i;

/** Asks in the way of the machine: its hosts file, its name servers, its search list. */
export const resolveBySystem: ResolveName = async (hostname) => {
  const addresses = await dns.lookup(hostname, { all: true, hints: ADDRCONFIG });
  return { addresses, ttlMs: SYSTEM_TTL_MS };
};

/**
 * Asks name servers directly, for the name as it stands, and goes by the time to live of their answers,
 * within bounds. IPv4 addresses come first.
 *
 * @param servers addresses, each with a port or without
 */
export function resolveByServers(servers: readonly string[], clock: Clock): ResolveName {
  const resolver = new dns.Resolver({ timeout: SERVER_TIMEOUT_MS, tries: SERVER_TRIES });
  resolver.setServers(servers);
  return async (hostname) => {
    if (LOOPBACK_NAME.test(hostname)) return resolveBySystem(hostname);
    const asking6 = settled(resolver.resolve6(hostname, { ttl: true }), 6);
    const answer4 = await settled(resolver.resolve4(hostname, { ttl: true }), 4);
    const late = pause(clock, RESOLUTION_DELAY_MS).then(() => NOTHING);
    const answer6 = await (answer4.found.length > 0 ? Promise.race([asking6, late]) : asking6);
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
  /** Why there is nothing; absent where the name has no address of this family, or is not heard of yet. */
  readonly error?: Error;
}

const NOTHING: Answer = { found: [] };

async function settled(
  asking: Promise<readonly { address: string; ttl: number }[]>,
  family: 4 | 6,
): Promise<Answer> {
  try {
    const found = await asking;
    return { found: found.map(({ address, ttl }) => ({ address, ttl, family })) };
  } catch (error) {
    // Node rejects with its own errors only.
    return { found: [], error: error as Error };
  }
}
