import type { LookupAddress } from 'node:dns';
import type { Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { NameResolver } from './guarded-lookup.ts';
import type { ResolveName } from './resolve-name.ts';

export interface NameCacheOptions {
  readonly resolve: ResolveName;
  /** How long the last good addresses of a name that does not resolve are used, after their time to live. */
  readonly staleMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Names that are kept at one time; 10 000 unless given. */
  readonly maxNames?: number;
}

/** What was asked and what came of it. */
export interface NameCounts {
  answered: number;
  failed: number;
  /** Connections that were made to the last good addresses of a name that did not resolve. */
  stale: number;
  /** Names that were forgotten as there were too many. */
  dropped: number;
}

interface Entry {
  readonly hostname: string;
  /** The last good ones; empty before the first. */
  addresses: readonly LookupAddress[];
  freshUntilMs: number;
  /** Why the newest question was not answered. */
  error: NodeJS.ErrnoException | undefined;
  askAgainAtMs: number;
  asking: boolean;
  /** The question under way has taken longer than anybody with last good addresses waits for it. */
  slow: boolean;
  /** Those who wait for the question under way. */
  waiting: Set<() => void>;
  /** Connections so far, to begin each with another of the addresses. */
  turn: number;
}

const MAX_NAMES = 10_000;
/** Who has last good addresses waits this long for new ones. */
const PATIENCE_MS = 300;
/** A name that does not resolve is asked for no more often. */
const ASK_AGAIN_MS = 1_000;

/**
 * The addresses of names, each asked for once for all who connect at one time. A name that does not
 * resolve, whatever the reason, keeps its last good addresses for a bounded time, and a resolver that
 * hangs holds up nobody who has some (RFC 8767, which leaves a name that is said not to exist without;
 * here it is kept too, as service discovery takes names away that come back).
 */
export class NameCache {
  readonly counts: NameCounts = { answered: 0, failed: 0, stale: 0, dropped: 0 };
  readonly #options: NameCacheOptions;
  /** The one used last comes last. */
  readonly #entries = new Map<string, Entry>();

  constructor(options: NameCacheOptions) {
    this.#options = options;
  }

  /** Names that are reached by their last good addresses now. */
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

  /** In place of `dns.lookup`, for every address of a name. Calls back later, never at once. */
  readonly lookup: NameResolver = (hostname, options, callback) => {
    const { clock } = this.#options;
    const entry = this.#entryOf(hostname);
    const answer = () => {
      const addresses = this.#isUsable(entry) ? inTurn(entry, familyOf(options.family)) : [];
      if (addresses.length === 0) callback(entry.error ?? notFound(hostname), []);
      else {
        if (entry.error !== undefined) this.counts.stale += 1;
        callback(null, addresses);
      }
    };
    const nowMs = clock.monotonicMs();
    if (nowMs >= entry.freshUntilMs && nowMs >= entry.askAgainAtMs) this.#ask(entry);
    if (nowMs < entry.freshUntilMs || !entry.asking || (entry.slow && this.#isUsable(entry))) {
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
      askAgainAtMs: -Infinity,
      asking: false,
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

  #ask(entry: Entry): void {
    if (entry.asking) return;
    const { clock, resolve } = this.#options;
    entry.asking = true;
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
        entry.asking = false;
        entry.slow = false;
        answerAll(entry);
      });
  }

  #answered(entry: Entry, addresses: readonly LookupAddress[], ttlMs: number): void {
    const { clock, log } = this.#options;
    const { hostname } = entry;
    this.counts.answered += 1;
    if (entry.error !== undefined) log.info({ hostname }, 'a name resolves again');
    const before = new Set(entry.addresses.map(({ address }) => address));
    if (before.size > 0 && addresses.every(({ address }) => !before.has(address))) {
      log.info({ hostname }, 'a name has moved: its addresses are others than before');
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
      const bound = { hostname, reason, stale_ms: staleMs };
      log.warn(bound, 'a name does not resolve: its last good addresses are used');
    } else if (entry.error === undefined || (wasUsable && !isUsable)) {
      log.error({ hostname, reason }, 'a name does not resolve: its services cannot be reached');
    }
    if (!isUsable) entry.addresses = [];
    entry.error = error;
    entry.askAgainAtMs = clock.monotonicMs() + ASK_AGAIN_MS;
  }
}

function answerAll(entry: Entry): void {
  const { waiting } = entry;
  entry.waiting = new Set();
  for (const answer of waiting) answer();
}

/** The addresses of a family, or of both, each time beginning with the next one of the first family. */
function inTurn(entry: Entry, family: 4 | 6 | undefined): LookupAddress[] {
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
