import { promises as dns, type LookupAddress } from 'node:dns';
import { pause, type Clock } from '../clock.ts';
import { codeOf, lookupError, NO_ADDRESS, NO_ANSWER, type ResolvedName } from './resolve-name.ts';

export interface NameServersOptions {
  /** Addresses, with or without a port. */
  readonly servers: readonly string[];
  /** How often a question is asked, each time with more patience. */
  readonly tries: number;
  /** How long the first try waits, until it is known how fast the servers are. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** A time to live of 0 must not cause a lookup for each connection. */
const MIN_TTL_MS = 1_000;
/** A changed name is noticed after this time, even if its time to live was longer. */
const MAX_TTL_MS = 60_000;
/** How long a name that is answered for IPv4 waits for its IPv6 addresses (RFC 8305 section 3, Resolution Delay). */
const RESOLUTION_DELAY_MS = 50;
/** How many unanswered names are remembered. */
const MAX_UNANSWERED = 10_000;

/**
 * Queries name servers directly, without a search list. Queries run at the same time and need no thread, so a name that
 * is not answered delays no other one. The resolver prefers servers that answered before. So that unanswered names do
 * not count against a server that answers all others, they have a resolver of their own.
 */
export class NameServers {
  readonly #clock: Clock;
  readonly #usual: dns.Resolver;
  readonly #patient: dns.Resolver;
  readonly #unanswered = new Set<string>();

  /** @throws Error if a server is not an address */
  constructor({ servers, tries, timeoutMs, clock }: NameServersOptions) {
    this.#clock = clock;
    this.#usual = new dns.Resolver({ timeout: timeoutMs, tries });
    this.#patient = new dns.Resolver({ timeout: timeoutMs, tries });
    for (const resolver of [this.#usual, this.#patient]) resolver.setServers(servers);
  }

  /**
   * Returns the addresses of these families, IPv4 first, and their time to live within bounds. Rejects if there are none,
   * with the error `ETIMEOUT` if no server answered in time.
   */
  async resolve(hostname: string, families: readonly (4 | 6)[] = [4, 6]): Promise<ResolvedName> {
    const resolver = this.#unanswered.has(hostname) ? this.#patient : this.#usual;
    const pending6 = families.includes(6)
      ? settled(resolver.resolve6(hostname, { ttl: true }), 6, hostname)
      : NOTHING;
    const answer4 = families.includes(4)
      ? await settled(resolver.resolve4(hostname, { ttl: true }), 4, hostname)
      : NOTHING;
    const answer6 = await (speaksForBoth(answer4) ? this.#soon(pending6) : pending6);
    const found = [...answer4.found, ...answer6.found];
    const error = found.length > 0 ? undefined : failureOf(answer4, answer6);
    this.#note(hostname, error !== undefined && codeOf(error) === NO_ANSWER);
    if (error !== undefined) throw error;
    const ttlMs = 1000 * Math.min(...found.map(({ ttl }) => ttl));
    return {
      addresses: found.map(({ address, family }) => ({ address, family })),
      ttlMs: Math.min(MAX_TTL_MS, Math.max(MIN_TTL_MS, ttlMs)),
    };
  }

  #soon(pending: Answer | Promise<Answer>): Promise<Answer> {
    const late = pause(this.#clock, RESOLUTION_DELAY_MS).then(() => NOTHING);
    return Promise.race([pending, late]);
  }

  #note(hostname: string, unanswered: boolean): void {
    if (!unanswered) this.#unanswered.delete(hostname);
    else if (this.#unanswered.size < MAX_UNANSWERED) this.#unanswered.add(hostname);
  }
}

/** Whether a resolver takes it for the address of a name server. */
export function isNameServer(text: string): boolean {
  try {
    new dns.Resolver().setServers([text]);
    return true;
  } catch {
    return false;
  }
}

interface Answer {
  readonly found: readonly (LookupAddress & { readonly ttl: number })[];
  /** Why there are no addresses; undefined if the answer has not arrived yet, or was not asked for. */
  readonly error?: Error;
}

const NOTHING: Answer = { found: [] };

/** Whether there are addresses, or there is no such name at all (RFC 8020): some servers never answer for IPv6. */
function speaksForBoth({ found, error }: Answer): boolean {
  return found.length > 0 || (error !== undefined && codeOf(error) === 'ENOTFOUND');
}

/** That a family has no address says nothing about the other one, whose failure does. */
function failureOf(answer4: Answer, answer6: Answer): Error {
  const errors = [answer4.error, answer6.error].filter((error) => error !== undefined);
  const failed = errors.find((error) => !NO_ADDRESS.has(codeOf(error)));
  return failed ?? errors[0] ?? new Error('no addresses');
}

async function settled(
  query: Promise<readonly { address: string; ttl: number }[]>,
  family: 4 | 6,
  hostname: string,
): Promise<Answer> {
  try {
    const found = await query;
    // An alias of a name without addresses is no error to Node.
    if (found.length === 0) return { found: [], error: lookupError('ENODATA', hostname) };
    return { found: found.map(({ address, ttl }) => ({ address, ttl, family })) };
  } catch (error) {
    // Node rejects with its own errors only.
    return { found: [], error: error as Error };
  }
}
