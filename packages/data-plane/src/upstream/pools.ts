import type { LookupFunction } from 'node:net';
import type { Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { AddressRanges } from '@gateway/shared/net/client-address';
import { Pool } from 'undici';
import type { CompiledUpstream } from '../table/routing-table.ts';
import { Exchange } from './exchange.ts';
import { isDeniedHost } from './guarded-lookup.ts';
import type { Attempt, AttemptOutcome, OutboundRequest, UpstreamClient } from './port.ts';

export interface PoolOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Addresses that are no upstream. */
  readonly deny: AddressRanges;
  /** Resolves names, and refuses those addresses at every connect. */
  readonly lookup: LookupFunction;
  readonly maxConnections: number;
  readonly connectTimeoutMs: number;
  readonly bodyIdleTimeoutMs: number;
}

interface Entry {
  readonly pool: Pool;
  /** Whether the URL holds an address that is no upstream. */
  readonly refused: boolean;
  inFlight: number;
}

/**
 * A connection that an upstream's keep-alive hint would let stand longer is closed after this: less
 * than the idle time of common servers, so that a request seldom meets a closing connection.
 */
const KEEP_ALIVE_MS = 4_000;
const REFUSED: Attempt = {
  outcome: Promise.resolve({ error: { name: 'address_refused', sent: false } }),
  cancel: () => undefined,
};
const MAX_RESPONSE_HEADER_BYTES = 64 * 1024;

/**
 * One bounded pool of connections for each upstream, made when it is first needed. Pools and in-flight
 * counts are kept under the upstream's key, so they outlive a change of configuration.
 */
export class UpstreamPools implements UpstreamClient {
  readonly #options: PoolOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  inFlight(upstream: CompiledUpstream): number {
    return this.#entries.get(upstream.key)?.inFlight ?? 0;
  }

  begin(upstream: CompiledUpstream, request: OutboundRequest, timeoutMs: number): Attempt {
    const { clock, bodyIdleTimeoutMs } = this.#options;
    const entry = this.#entry(upstream);
    if (entry.refused) return REFUSED;
    const { promise, resolve } = Promise.withResolvers<AttemptOutcome>();
    entry.inFlight += 1;
    const exchange = new Exchange({
      clock,
      timeoutMs,
      idleTimeoutMs: bodyIdleTimeoutMs,
      settle: resolve,
      done: () => void (entry.inFlight -= 1),
    });
    entry.pool.dispatch(
      { path: request.path, method: request.method, headers: request.headers, body: request.body },
      exchange,
    );
    return { outcome: promise, cancel: () => exchange.cancel() };
  }

  /** Closes the pools of upstreams that no configuration names any more; what is in flight ends first. */
  retain(keys: ReadonlyMap<string, unknown>): void {
    for (const [key, entry] of this.#entries) {
      if (keys.has(key)) continue;
      this.#entries.delete(key);
      entry.pool.close().catch((error: unknown) => {
        this.#options.log.warn(
          { reason: String(error) },
          'a connection pool did not close cleanly',
        );
      });
    }
  }

  /** Ends every connection at once. */
  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    await Promise.all(entries.map((entry) => entry.pool.destroy()));
  }

  #entry(upstream: CompiledUpstream): Entry {
    let entry = this.#entries.get(upstream.key);
    if (entry === undefined) {
      const { deny, lookup, maxConnections, connectTimeoutMs } = this.#options;
      const pool = new Pool(upstream.origin, {
        connections: maxConnections,
        pipelining: 1,
        // Deadlines and idle times are the gateway's own, exact to the millisecond.
        headersTimeout: 0,
        bodyTimeout: 0,
        keepAliveTimeout: KEEP_ALIVE_MS,
        keepAliveMaxTimeout: KEEP_ALIVE_MS,
        maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
        allowH2: false,
        connect: { timeout: connectTimeoutMs, lookup },
      });
      entry = { pool, refused: isDeniedHost(upstream.origin, deny), inFlight: 0 };
      this.#entries.set(upstream.key, entry);
    }
    return entry;
  }
}
