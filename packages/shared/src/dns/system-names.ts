import { ADDRCONFIG, promises as dns, type LookupAddress } from 'node:dns';
import { networkInterfaces } from 'node:os';
import type { Clock } from '../clock.ts';
import { oneAtATime, type LookUp } from './last-resort.ts';
import { NameServers } from './name-servers.ts';
import { followFile, parseHosts, parseResolverConfiguration } from './resolver-files.ts';
import {
  codeOf,
  lookupError,
  NO_ADDRESS,
  NO_ANSWER,
  type ResolvedName,
  type ResolveName,
} from './resolve-name.ts';

/** What a machine knows about names. */
export interface NameSources {
  /** hosts(5). */
  readonly hosts: string;
  /** resolv.conf(5). */
  readonly resolverConfiguration: string;
  /** All that the machine is configured to ask; asked for names that neither of the others knows. */
  readonly lookUp: LookUp;
  /** The families that are asked for. */
  readonly families: () => readonly (4 | 6)[];
}

export const SYSTEM_SOURCES: NameSources = {
  hosts: '/etc/hosts',
  resolverConfiguration: '/etc/resolv.conf',
  lookUp: (hostname) => dns.lookup(hostname, { all: true, hints: ADDRCONFIG }),
  families: configuredFamilies,
};

/** Changes of the machine's names are noticed after this time, whatever time to live they had. */
const TTL_MS = 5_000;
const TIMEOUT_MS = 5_000;
const SERVER_TIMEOUT_MS = 1_000;
/** Enough to be answered within the timeout by a server that first has to ask others. */
const TRIES = 4;
/** Names of this machine, which are not sent to a name server (RFC 6761 section 6.3). */
const LOOPBACK_NAME = /^(?:.+\.)?localhost\.?$/i;
const LOOPBACK = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
/** The errors that say nothing about the name; if no other source of the machine knows it, they are the reason. */
const UNKNOWN = new Set(['ESERVFAIL', 'EREFUSED', 'ENOTIMP', 'EFORMERR', 'EBADRESP']);
/** The errors after which another source of the machine may know the name. */
const ASK_ELSEWHERE = new Set([...NO_ADDRESS, ...UNKNOWN, 'ECONNREFUSED', 'EBADNAME']);

/**
 * Resolves names as this machine does: by its hosts file, by its name servers with its search list, and by
 * `getaddrinfo` if both do not know the name. Only the last one needs a thread. So a name whose servers do not answer
 * delays no other one.
 */
export function resolveBySystem(sources: NameSources, clock: Clock): ResolveName {
  const hosts = followFile(sources.hosts, parseHosts, clock);
  const readServers = (text: string) => {
    const { servers, search, ndots } = parseResolverConfiguration(text);
    const asked = new NameServers({ servers, tries: TRIES, timeoutMs: SERVER_TIMEOUT_MS, clock });
    return { servers: asked, search, ndots };
  };
  const configuration = followFile(sources.resolverConfiguration, readServers, clock);
  const families = remembered(sources.families, clock);
  const lookUp = oneAtATime(sources.lookUp, clock);

  async function elsewhere(hostname: string, failure: Error): Promise<readonly LookupAddress[]> {
    try {
      return await lookUp(hostname);
    } catch (error) {
      throw UNKNOWN.has(codeOf(failure)) ? failure : error;
    }
  }

  return async (hostname) => {
    const local = (await hosts()).get(hostname.toLowerCase().replace(/\.$/, ''));
    if (local !== undefined) return { addresses: local, ttlMs: TTL_MS };
    if (LOOPBACK_NAME.test(hostname)) return { addresses: LOOPBACK, ttlMs: TTL_MS };
    try {
      const { servers, search, ndots } = await configuration();
      const searched = searchNames(servers, namesToAsk(hostname, search, ndots), families());
      const { addresses } = await within(TIMEOUT_MS, searched, hostname, clock);
      return { addresses, ttlMs: TTL_MS };
    } catch (error) {
      if (!ASK_ELSEWHERE.has(codeOf(error))) throw error;
      return { addresses: await elsewhere(hostname, error as Error), ttlMs: TTL_MS };
    }
  };
}

/** Queries the servers in `DNS_SERVERS`; names of this machine are not sent to them. */
export function resolveByServers(servers: readonly string[], clock: Clock): ResolveName {
  const asked = new NameServers({ servers, tries: 2, timeoutMs: SERVER_TIMEOUT_MS, clock });
  const bySystem = resolveBySystem(SYSTEM_SOURCES, clock);
  return (hostname) =>
    LOOPBACK_NAME.test(hostname) ? bySystem(hostname) : asked.resolve(hostname);
}

/** Calls it at most once in the time for which answers are used: the system takes 0.1 ms to list its interfaces. */
function remembered<T>(read: () => T, clock: Clock): () => T {
  let known: { readonly value: T; readonly untilMs: number } | undefined;
  return () => {
    const nowMs = clock.monotonicMs();
    if (known === undefined || nowMs >= known.untilMs) {
      known = { value: read(), untilMs: nowMs + TTL_MS };
    }
    return known.value;
  };
}

/** The names that a name may stand for, in the order in which they are tried: resolv.conf(5), `ndots`. */
export function namesToAsk(hostname: string, search: readonly string[], ndots: number): string[] {
  if (hostname.endsWith('.')) return [hostname];
  const searched = search.map((domain) => `${hostname}.${domain}`);
  const dots = hostname.split('.').length - 1;
  return dots >= ndots ? [hostname, ...searched] : [...searched, hostname];
}

/** Returns the addresses of the first name that has some. A name that is not answered ends the search. */
async function searchNames(
  servers: NameServers,
  names: readonly string[],
  families: readonly (4 | 6)[],
): Promise<ResolvedName> {
  let failure: Error | undefined;
  for (const name of names) {
    try {
      return await servers.resolve(name, families);
    } catch (error) {
      // Node rejects with its own errors only.
      if (failure === undefined || NO_ADDRESS.has(codeOf(failure))) failure = error as Error;
      if (codeOf(error) === NO_ANSWER) break;
    }
  }
  throw failure ?? lookupError('ENOTFOUND', names[0] ?? '');
}

/** The families that this machine has an address of; both if it has none. Others could not be connected to. */
function configuredFamilies(): readonly (4 | 6)[] {
  const found = new Set<number>();
  for (const addresses of Object.values(networkInterfaces())) {
    for (const { internal, family, scopeid } of addresses ?? []) {
      if (!internal && !(scopeid ?? 0)) found.add(family === 'IPv6' ? 6 : 4);
    }
  }
  const families = ([4, 6] as const).filter((family) => found.has(family));
  return families.length > 0 ? families : [4, 6];
}

/** Rejects with `ETIMEOUT` if the lookup takes longer. */
function within<T>(
  timeoutMs: number,
  lookup: Promise<T>,
  hostname: string,
  clock: Clock,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(timeoutMs, () => reject(lookupError(NO_ANSWER, hostname)));
    void lookup.then(resolve, reject).finally(() => timer.cancel());
  });
}
