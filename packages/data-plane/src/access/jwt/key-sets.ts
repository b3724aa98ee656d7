import type { Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { Instruments } from '@gateway/shared/telemetry/instruments';
import type { Counter, Registry } from 'prom-client';
import { RemoteKeySet, type FetchKeySet } from './remote-key-set.ts';

export interface KeySetsOptions {
  readonly fetch: FetchKeySet;
  readonly clock: Clock;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  readonly registry: Registry;
}

const MAX_KEY_SETS = 1_000;

/**
 * The key sets of all issuers in the configuration. Each URL has one set, which the routes with that
 * URL share. Sets survive a configuration change. Above `MAX_KEY_SETS` the oldest set is dropped.
 */
export class KeySets {
  readonly #options: KeySetsOptions;
  readonly #sets = new Map<string, RemoteKeySet>();
  readonly #fetches: Counter<'result'>;
  readonly #dropped: Counter;
  readonly #droppedKeys: Counter;

  constructor(options: KeySetsOptions) {
    this.#options = options;
    const instruments = new Instruments(options.registry);
    this.#fetches = instruments.counter(
      'gateway_key_set_fetches_total',
      'Fetches of the key sets of token issuers, by result',
      ['result'],
    );
    this.#dropped = instruments.counter(
      'gateway_key_sets_dropped_total',
      'Key sets that were dropped because there were too many; they are fetched again when needed',
    );
    this.#droppedKeys = instruments.counter(
      'gateway_key_set_keys_dropped_total',
      'Keys of token issuers that were dropped because a set has too many: at most 64 of a set are used',
    );
    instruments.observeGauges(
      'gateway_key_sets',
      'Key sets of token issuers in the configuration, by whether there is one to verify with',
      ['state'],
      () => {
        const sets = [...this.#sets.values()];
        const held = sets.filter((set) => set.keys !== undefined).length;
        return [
          [{ state: 'held' }, held],
          [{ state: 'missing' }, sets.length - held],
        ];
      },
    );
  }

  /** The set at this URL. An unknown URL gets a new set, which is fetched at once. */
  at(url: string): RemoteKeySet {
    const known = this.#sets.get(url);
    if (known !== undefined) return known;
    if (this.#sets.size >= MAX_KEY_SETS) this.#dropOldest();
    const created = this.#create(url);
    this.#sets.set(url, created);
    return created;
  }

  /** The set at this URL, if it is known. */
  find(url: string): RemoteKeySet | undefined {
    return this.#sets.get(url);
  }

  /** Starts to fetch the sets of a new configuration and closes those that are not in it. */
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

  #create(url: string): RemoteKeySet {
    const { fetch, clock, random, log } = this.#options;
    return new RemoteKeySet({
      url,
      fetch,
      clock,
      random,
      fetched: (result, reason) => {
        this.#fetches.inc({ result });
        if (result === 'ok') return;
        log.warn({ jwks_url: withoutQuery(url), result, reason }, 'key set fetch failed');
      },
      dropped: (keys) => {
        this.#droppedKeys.inc(keys);
        log.warn({ jwks_url: withoutQuery(url), dropped: keys }, 'key set has too many keys');
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
