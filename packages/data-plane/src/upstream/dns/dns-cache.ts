import type { LookupAddress } from 'node:dns';
import type { Clock } from '@gateway/shared/clock';
import { codeOf, NO_ANSWER, type ResolveName } from '@gateway/shared/dns/resolve-name';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { NameResolver } from './guarded-lookup.ts';

export interface DnsCacheOptions {
  readonly resolve: ResolveName;
  /** How long the last good addresses of a name are used after their time to live, if it does not resolve. */
  readonly staleMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** The number of names that are kept; 10 000 by default. */
  readonly maxNames?: number;
}

/** Counts of lookups, for the metrics. */
export interface DnsCounts {
  answered: number;
  failed: number;
  /** Connections to the last good addresses of a name that did not resolve. */
  stale: number;
  /** Names that were removed because there were too many. */
  dropped: number;
}

interface Entry {
  readonly hostname: string;
  /** The last good addresses; empty before the first lookup succeeds. */
  addresses: readonly LookupAddress[];
  freshUntilMs: number;
  /** The error of the last lookup. */
  error: NodeJS.ErrnoException | undefined;
  retryAtMs: number;
  /** A lookup is running. */
  resolving: boolean;
  /** The running lookup has taken longer than `PATIENCE_MS`. */
  slow: boolean;
  /** Callbacks that wait for the running lookup. */
  waiting: Set<() => void>;
  /** The number of uses, so that each starts with another address. */
  turn: number;
}

const MAX_NAMES = 10_000;
/** How long a connection waits for a lookup if there are last good addresses. */
const PATIENCE_MS = 300;
/** The shortest time between two lookups of a name that does not resolve. */
const RETRY_MS = 1_000;
/** How long after its last lookup a name is reported that no name server answered. */
const REPORTED_MS = 60_000;
/** How many of them a reason names. */
const SHOWN_NAMES = 10;

/**
 * Caches the addresses of names. Connections that need the same name at one time share one lookup. If a name does not
 * resolve, its last good addresses are used for a bounded time, and a resolver that hangs delays no connection that has
 * them (RFC 8767). Unlike there, a name that does not exist any more keeps its addresses too, because service discovery
 * removes names that return.
 */
export class DnsCache {
  readonly counts: DnsCounts = { answered: 0, failed: 0, stale: 0, dropped: 0 };
  readonly #options: DnsCacheOptions;
  /** In order of use, the most recent last. */
  readonly #entries = new Map<string, Entry>();

  constructor(options: DnsCacheOptions) {
    this.#options = options;
  }

  /** The number of names that do not resolve and whose last good addresses are in use. */
  get staleNames(): number {
    let count = 0;
    for (const entry of this.#entries.values()) {
      if (entry.error !== undefined && this.#isUsable(entry)) count += 1;
    }
    return count;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The number of names that lately no name server answered and that have no last good addresses. */
  get unansweredNames(): number {
    return this.#unanswered().filter((entry) => !this.#isUsable(entry)).length;
  }

  /** The reasons why this data plane is degraded. */
  reasons(): readonly string[] {
    const { staleNames } = this;
    const reasons = staleNames === 0 ? [] : [`${staleNames} names of upstreams do not resolve`];
    const unanswered = this.#unanswered().map(({ hostname }) => hostname);
    if (unanswered.length > 0) {
      const more = unanswered.length - SHOWN_NAMES;
      const shown = unanswered.slice(0, SHOWN_NAMES).join(', ');
      reasons.push(`names without a DNS answer: ${shown}${more > 0 ? ` and ${more} more` : ''}`);
    }
    return reasons;
  }

  #unanswered(): readonly Entry[] {
    const sinceMs = this.#options.clock.monotonicMs() - REPORTED_MS;
    return [...this.#entries.values()].filter(
      ({ error, retryAtMs }) =>
        error !== undefined && codeOf(error) === NO_ANSWER && retryAtMs - RETRY_MS > sinceMs,
    );
  }

  /** Replaces `dns.lookup`, for all addresses of a name. The callback never runs synchronously. */
  readonly lookup: NameResolver = (hostname, options, callback) => {
    const { clock } = this.#options;
    const entry = this.#entryOf(hostname);
    const answer = () => {
      const addresses = this.#isUsable(entry) ? rotated(entry, familyOf(options.family)) : [];
      if (addresses.length === 0) callback(entry.error ?? notFound(hostname), []);
      else {
        if (entry.error !== undefined) this.counts.stale += 1;
        callback(null, addresses);
      }
    };
    const nowMs = clock.monotonicMs();
    if (nowMs >= entry.freshUntilMs && nowMs >= entry.retryAtMs) this.#resolve(entry);
    if (nowMs < entry.freshUntilMs || !entry.resolving || (entry.slow && this.#isUsable(entry))) {
      process.nextTick(answer);
    } else entry.waiting.add(answer);
  };

  #entryOf(hostname: string): Entry {
    const known = this.#entries.get(hostname);
    if (known !== undefined) {
      this.#entries.delete(hostname);
      this.#entries.set(hostname, known);
      return known;
    }
    if (this.#entries.size >= (this.#options.maxNames ?? MAX_NAMES)) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.#entries.delete(oldest);
      this.counts.dropped += 1;
    }
    const entry: Entry = {
      hostname,
      addresses: [],
      freshUntilMs: -Infinity,
      error: undefined,
      retryAtMs: -Infinity,
      resolving: false,
      slow: false,
      waiting: new Set(),
      turn: 0,
    };
    this.#entries.set(hostname, entry);
    return entry;
  }

  #isUsable({ addresses, freshUntilMs }: Entry): boolean {
    const { clock, staleMs } = this.#options;
    return addresses.length > 0 && clock.monotonicMs() < freshUntilMs + staleMs;
  }

  #resolve(entry: Entry): void {
    if (entry.resolving) return;
    const { clock, resolve } = this.#options;
    entry.resolving = true;
    const impatient = clock.setTimer(PATIENCE_MS, () => {
      if (!this.#isUsable(entry)) return;
      entry.slow = true;
      answerAll(entry);
    });
    void resolve(entry.hostname)
      .then(
        ({ addresses, ttlMs }) => this.#answered(entry, addresses, ttlMs),
        (error: unknown) => this.#failed(entry, error as NodeJS.ErrnoException),
      )
      .finally(() => {
        impatient.cancel();
        entry.resolving = false;
        entry.slow = false;
        answerAll(entry);
      });
  }

  #answered(entry: Entry, addresses: readonly LookupAddress[], ttlMs: number): void {
    const { clock, log } = this.#options;
    const { hostname } = entry;
    this.counts.answered += 1;
    if (entry.error !== undefined) log.info({ hostname }, 'DNS lookup succeeds again');
    const before = new Set(entry.addresses.map(({ address }) => address));
    if (before.size > 0 && addresses.every(({ address }) => !before.has(address))) {
      log.info({ hostname }, 'DNS addresses replaced');
    }
    entry.addresses = addresses;
    entry.freshUntilMs = clock.monotonicMs() + ttlMs;
    entry.error = undefined;
  }

  #failed(entry: Entry, error: NodeJS.ErrnoException): void {
    const { clock, log, staleMs } = this.#options;
    const { hostname } = entry;
    this.counts.failed += 1;
    const wasUsable = entry.addresses.length > 0;
    const isUsable = this.#isUsable(entry);
    const reason = error.message;
    if (entry.error === undefined && isUsable) {
      const fields = { hostname, reason, stale_ms: staleMs };
      log.warn(fields, 'DNS lookup failed; using the last good addresses');
    } else if (entry.error === undefined || (wasUsable && !isUsable)) {
      log.error({ hostname, reason }, 'DNS lookup failed; no usable addresses');
    }
    if (!isUsable) entry.addresses = [];
    entry.error = error;
    entry.retryAtMs = clock.monotonicMs() + RETRY_MS;
  }
}

function answerAll(entry: Entry): void {
  const { waiting } = entry;
  entry.waiting = new Set();
  for (const answer of waiting) answer();
}

/** The addresses of a family, or of both. Each call starts with the next address of the first family. */
function rotated(entry: Entry, family: 4 | 6 | undefined): LookupAddress[] {
  const { addresses, turn } = entry;
  entry.turn += 1;
  const wanted =
    family === undefined ? addresses : addresses.filter((one) => one.family === family);
  const first = wanted[0]?.family;
  const firsts = wanted.filter((one) => one.family === first);
  const others = wanted.filter((one) => one.family !== first);
  const start = turn % Math.max(1, firsts.length);
  return [...firsts.slice(start), ...firsts.slice(0, start), ...others];
}

function familyOf(family: number | string | undefined): 4 | 6 | undefined {
  if (family === 4 || family === 'IPv4') return 4;
  if (family === 6 || family === 'IPv6') return 6;
  return undefined;
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`no address of ${hostname}`), { code: 'ENOTFOUND', hostname });
}
