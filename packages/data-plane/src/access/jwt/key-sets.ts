import type { Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { FetchKeySet } from './fetch-key-set.ts';
import { RemoteKeySet } from './remote-key-set.ts';

export interface KeySetsOptions {
  readonly fetch: FetchKeySet;
  readonly clock: Clock;
  /** Gives numbers in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  readonly registry: Registry;
}

const MAX_KEY_SETS = 1_000;

/**
 * The key sets of every issuer that the configuration names, one for each URL, shared by the routes
 * that name it. They outlive a change of configuration. Past `MAX_KEY_SETS` the one made first goes.
 */
export class KeySets {
  readonly #options: KeySetsOptions;
  readonly #sets = new Map<string, RemoteKeySet>();
  readonly #fetches: Counter<'result'>;
  readonly #dropped: Counter;
  readonly #droppedKeys: Counter;

  constructor(options: KeySetsOptions) {
    this.#options = options;
    this.#fetches = new Counter({
      name: 'gateway_key_set_fetches_total',
      help: 'Fetches of the key sets of token issuers, by result.',
      labelNames: ['result'],
      registers: [options.registry],
    });
    this.#dropped = new Counter({
      name: 'gateway_key_sets_dropped_total',
      help: 'Key sets that were dropped as there were too many, and are fetched again when needed.',
      registers: [options.registry],
    });
    this.#droppedKeys = new Counter({
      name: 'gateway_key_set_keys_dropped_total',
      help: 'Keys of token issuers that were dropped, as a set names too many: 64 of one are used.',
      registers: [options.registry],
    });
    const sets = this.#sets;
    new Gauge({
      name: 'gateway_key_sets',
      help: 'Key sets of token issuers that the configuration names, by whether there is one to verify with.',
      labelNames: ['state'],
      registers: [options.registry],
      collect() {
        const held = [...sets.values()].filter((set) => set.keys !== undefined).length;
        this.set({ state: 'held' }, held);
        this.set({ state: 'missing' }, sets.size - held);
      },
    });
  }

  /** The set behind this URL; made, and so fetched, where it was not yet. */
  at(url: string): RemoteKeySet {
    const known = this.#sets.get(url);
    if (known !== undefined) return known;
    if (this.#sets.size >= MAX_KEY_SETS) this.#dropOldest();
    const made = this.#make(url);
    this.#sets.set(url, made);
    return made;
  }

  /** Begins to fetch the sets that a new configuration names, and gives up those that it does not. */
  retain(urls: ReadonlySet<string>): void {
    for (const [url, set] of this.#sets) {
      if (urls.has(url)) continue;
      this.#sets.delete(url);
      set.close();
    }
    for (const url of urls) {
      if (this.#sets.size >= MAX_KEY_SETS) return;
      this.at(url);
    }
  }

  close(): void {
    for (const set of this.#sets.values()) set.close();
    this.#sets.clear();
  }

  #make(url: string): RemoteKeySet {
    const { fetch, clock, random, log } = this.#options;
    return new RemoteKeySet({
      ...{ url, fetch, clock, random },
      fetched: (result, reason) => {
        this.#fetches.inc({ result });
        if (result === 'ok') return;
        log.warn({ jwks_url: withoutQuery(url), result, reason }, 'a key set could not be fetched');
      },
      dropped: (keys) => {
        this.#droppedKeys.inc(keys);
        log.warn({ jwks_url: withoutQuery(url), dropped: keys }, 'a key set names too many keys');
      },
    });
  }

  #dropOldest(): void {
    for (const [url, set] of this.#sets) {
      this.#sets.delete(url);
      set.close();
      this.#dropped.inc();
      return;
    }
  }
}

function withoutQuery(url: string): string {
  return url.split('?', 1)[0] ?? '';
}
