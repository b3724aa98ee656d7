import { FieldBlocks } from '@gateway/http/message/repeated-fields';
import type { LookupFunction } from 'node:net';
import type { Clock } from '@gateway/shared/clock';
import type { AddressRanges } from '@gateway/shared/net/client-address';
import type { CompiledUpstream, ServiceLimits } from '../routing-table/routing-table.ts';
import type { TimeAccount } from '../request/time-account.ts';
import { Attempt } from './attempt.ts';
import type { AttemptOwner } from './pooled-attempt.ts';
import { isDeniedOrigin } from './dns/guarded-lookup.ts';
import { ConnectionPool } from './connection-pool.ts';
import { poolLimits, type PoolLimits } from './pool-limits.ts';
import type { AttemptErrorName } from './attempt-end.ts';
import type { AttemptHandler, AttemptTimes, UpstreamClient } from './upstream-client.ts';
import type { ClientRequest } from '@gateway/http/exchange';
import type { Http2Engine, ObserveConnection, OpenConnections } from './upstream-connector.ts';

export interface UpstreamPoolsOptions {
  readonly clock: Clock;
  /** Addresses that no upstream may have. */
  readonly deny: AddressRanges;
  /** Resolves names, and refuses denied addresses at every connect. */
  readonly lookup: LookupFunction;
  readonly http2: Http2Engine;
  /** The connections that are open, by protocol; given, it follows them. */
  readonly open?: OpenConnections;
  /** Connections of this process to one upstream. */
  readonly maxConnections: number;
  /** Processes of this data plane, which share the limits of a service. */
  readonly processes: number;
  readonly connectTimeoutMs: number;
  readonly bodyIdleTimeoutMs: number;
  /** How long a connection to a name is used, ms; undefined: without a limit. */
  readonly maxConnectionAgeMs?: number;
  /** Called with each connection that was opened, or with why it was not. It does not throw. */
  readonly observe?: ObserveConnection;
  /** Called with an exception in the handling of a connection, which ends with it. */
  readonly internalError: (error: unknown) => void;
}

interface Entry extends AttemptOwner {
  readonly pool: ConnectionPool;
  /** Those that the limits of the pool were made of. */
  limits: ServiceLimits | undefined;
  inFlight: number;
}

/** Those of an attempt that was refused at once, and what cancels it: nothing. */
const REFUSED: AttemptTimes & { cancel(): void } = {
  connectionWaitMs: 0,
  upstreamMs: 0,
  cancel: () => undefined,
};

/**
 * A bounded pool of connections for each upstream; services do not share pools. A pool is created when it is needed and
 * dropped when it has no connection left. Pools and in-flight counts are kept under the key of the upstream, so they
 * outlive a change of configuration.
 */
export class UpstreamPools implements UpstreamClient {
  readonly #options: UpstreamPoolsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #blocks: FieldBlocks;

  constructor(options: UpstreamPoolsOptions) {
    this.#options = options;
    this.#blocks = new FieldBlocks(options.clock);
  }

  inFlight(upstream: CompiledUpstream): number {
    return this.#entries.get(upstream.key)?.inFlight ?? 0;
  }

  poolLimits({ limits }: CompiledUpstream): PoolLimits {
    return this.#limits(limits);
  }

  begin(
    upstream: CompiledUpstream,
    request: ClientRequest,
    timeoutMs: number,
    handler: AttemptHandler,
    holdsKey?: () => boolean,
    times?: TimeAccount,
  ): { cancel(): void } {
    const entry = this.#entry(upstream);
    if (entry === undefined) return refuse(handler, 'address_refused');
    this.#follow(entry, upstream);
    // Refused before anything is made, so that the callers of a service that hangs cost little.
    // A WebSocket by HTTP/2 is a stream among others.
    const isAlone = request.upgrade !== undefined && upstream.websocketProtocol === undefined;
    if (!isAlone && entry.pool.isFull) return refuse(handler, 'max_pending');
    const attempt = new Attempt(request, timeoutMs, handler, entry, holdsKey, times);
    entry.inFlight += 1;
    if (isAlone) entry.pool.dispatchAlone(attempt);
    else entry.pool.dispatch(attempt);
    return attempt;
  }

  /** Retires the pools of all other upstreams: their connections close when their requests have ended. */
  retain(keys: { has(key: string): boolean }): void {
    for (const [key, entry] of this.#entries) {
      if (keys.has(key)) continue;
      this.#entries.delete(key);
      entry.pool.retire();
    }
  }

  /** Retires the pools of these upstreams: their connections close when their requests have ended. */
  release(keys: Iterable<string>): void {
    for (const key of keys) {
      const entry = this.#entries.get(key);
      this.#entries.delete(key);
      entry?.pool.retire();
    }
  }

  /** Closes every connection, also those with a request in flight. */
  close(): void {
    for (const entry of this.#entries.values()) entry.pool.destroy();
    this.#entries.clear();
    this.#blocks.clear();
  }

  /** undefined: the URL contains a denied address, so there is no pool. */
  #entry({ key, origin, tls, protocol, limits }: CompiledUpstream): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) return entry;
    const {
      deny,
      maxConnectionAgeMs: maxAgeMs,
      clock,
      bodyIdleTimeoutMs: idleTimeoutMs,
      internalError,
    } = this.#options;
    if (isDeniedOrigin(origin, deny)) return undefined;
    const emptied = () => this.#dropUnused(key, created);
    const pool = new ConnectionPool(origin, this.#limits(limits), {
      ...this.#options,
      blocks: this.#blocks,
      maxAgeMs,
      tls,
      protocol,
      emptied,
    });
    const created: Entry = {
      pool,
      limits,
      inFlight: 0,
      clock,
      idleTimeoutMs,
      ended: (attempt, started) => {
        created.inFlight -= 1;
        try {
          if (!started) pool.withdraw(attempt);
          if (created.inFlight === 0) this.#dropUnused(key, created);
        } catch (error) {
          internalError(error);
        }
      },
      internalError,
    };
    this.#entries.set(key, created);
    return created;
  }

  /** Follows a change of the limits of the service. */
  #follow(entry: Entry, { limits }: CompiledUpstream): void {
    if (entry.limits === limits) return;
    entry.limits = limits;
    entry.pool.limits = this.#limits(limits);
  }

  #limits(limits: ServiceLimits | undefined): PoolLimits {
    return poolLimits(limits, this.#options.maxConnections, this.#options.processes);
  }

  /**
   * Drops a pool without connections and requests. A request that began before a change of configuration may create
   * the pool of a released upstream again, which nothing else would release.
   */
  #dropUnused(key: string, entry: Entry): void {
    if (entry.inFlight > 0 || entry.pool.size > 0) return;
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }
}

/** Nothing was sent. */
function refuse(handler: AttemptHandler, name: AttemptErrorName): { cancel(): void } {
  handler.failed({ name, sent: false }, REFUSED);
  return REFUSED;
}
