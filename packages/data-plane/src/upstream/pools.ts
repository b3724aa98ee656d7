import type { LookupFunction } from 'node:net';
import type { Clock } from '@gateway/shared/clock';
import type { AddressRanges } from '@gateway/shared/net/client-address';
import type { CompiledUpstream } from '../routing-table/routing-table.ts';
import { Exchange } from './exchange.ts';
import { isDeniedHost } from './names/guarded-lookup.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { Attempt, AttemptOutcome, UpstreamClient } from './port.ts';
import type { ClientRequest } from '@gateway/http1/client/request-writer';

export interface UpstreamPoolsOptions {
  readonly clock: Clock;
  /** Addresses that are no upstream. */
  readonly deny: AddressRanges;
  /** Resolves names, and refuses those addresses at every connect. */
  readonly lookup: LookupFunction;
  readonly maxConnections: number;
  readonly connectTimeoutMs: number;
  readonly bodyIdleTimeoutMs: number;
  /** Of a connection to a name, ms; undefined: no bound. */
  readonly maxConnectionAgeMs?: number;
}

interface Entry {
  readonly pool: ConnectionPool;
  inFlight: number;
}

const DENIED: Attempt = {
  outcome: Promise.resolve({ error: { name: 'address_refused', sent: false } }),
  cancel: () => undefined,
};

/**
 * One bounded pool of connections for each upstream, shared by no two services. A pool is made when it is needed
 * and dropped when it has no connection left. Pools and in-flight counts are kept under the upstream's key, so
 * they outlive a change of configuration.
 */
export class UpstreamPools implements UpstreamClient {
  readonly #options: UpstreamPoolsOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: UpstreamPoolsOptions) {
    this.#options = options;
  }

  inFlight(upstream: CompiledUpstream): number {
    return this.#entries.get(upstream.key)?.inFlight ?? 0;
  }

  begin(upstream: CompiledUpstream, request: ClientRequest, timeoutMs: number): Attempt {
    const entry = this.#entry(upstream);
    if (entry === undefined) return DENIED;
    const { promise, resolve } = Promise.withResolvers<AttemptOutcome>();
    entry.inFlight += 1;
    const exchange = new Exchange({
      request,
      clock: this.#options.clock,
      timeoutMs,
      idleTimeoutMs: this.#options.bodyIdleTimeoutMs,
      settle: resolve,
      done: () => {
        entry.inFlight -= 1;
        entry.pool.withdraw(exchange);
        if (entry.inFlight === 0) this.#dropUnused(upstream.key, entry);
      },
    });
    if (request.upgrade === undefined) entry.pool.dispatch(exchange);
    else entry.pool.dispatchAlone(exchange);
    return { outcome: promise, cancel: () => exchange.cancel() };
  }

  /** Gives up the pools of upstreams that no configuration names any more; what is in flight ends first. */
  retain(keys: { has(key: string): boolean }): void {
    for (const [key, entry] of this.#entries) {
      if (keys.has(key)) continue;
      this.#entries.delete(key);
      entry.pool.retire();
    }
  }

  /** As `retain`, of those that are named no longer. */
  release(keys: Iterable<string>): void {
    for (const key of keys) {
      const entry = this.#entries.get(key);
      this.#entries.delete(key);
      entry?.pool.retire();
    }
  }

  /** Cuts every connection. */
  close(): void {
    for (const entry of this.#entries.values()) entry.pool.destroy();
    this.#entries.clear();
  }

  /** undefined: the URL holds an address that is no upstream, so it gets no pool. */
  #entry({ key, origin, tls }: CompiledUpstream): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) return entry;
    const { deny, maxConnectionAgeMs: maxAgeMs } = this.#options;
    if (isDeniedHost(origin, deny)) return undefined;
    const emptied = () => this.#dropUnused(key, made);
    const pool = new ConnectionPool(origin, { ...this.#options, maxAgeMs, tls, emptied });
    const made: Entry = { pool, inFlight: 0 };
    this.#entries.set(key, made);
    return made;
  }

  /**
   * Forgets a pool without connections and requests. A request that began before a change of configuration may
   * need a pool that was released; nobody would release it again.
   */
  #dropUnused(key: string, entry: Entry): void {
    if (entry.inFlight > 0 || entry.pool.size > 0) return;
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }
}
