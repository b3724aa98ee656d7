import type { ClientRequest } from '@gateway/http1/exchange';
import type { TimeAccount } from '../request/time-account.ts';
import type { UpstreamResponse } from '../request/upstream-response.ts';
import type { CompiledUpstream } from '../routing-table/routing-table.ts';
import type { AttemptEnd } from './attempt-end.ts';
import type { PoolLimits } from './pool-limits.ts';

/** A request on its way to an upstream. */
export interface Attempt {
  /** Settles when the head of the response has arrived or the attempt has failed. Never rejects. */
  readonly outcome: Promise<AttemptEnd<UpstreamResponse>>;
  /** How long it waited for one of the connections of the service because all were in use, ms. Known when it has ended. */
  readonly connectionWaitMs: number;
  /**
   * For how much of a timeout the upstream alone was waited for, ms: not for a connection that others used, and not for
   * the rest of the request.
   */
  readonly upstreamMs: number;
  /** Ends the attempt, and the response if it has begun. */
  cancel(): void;
}

/** Sends requests to upstreams. */
export interface UpstreamClient {
  /**
   * Starts an attempt. It fails if the head of the response has not arrived after `timeoutMs`.
   *
   * @param holdsKey asked before anything is sent, which may be after a wait for a connection: whether the request still
   * holds its idempotency key. If not, the attempt fails with `key_lease_ended`
   * @param times enters `upstream` when a connection carries the request; undefined: nobody asks
   */
  begin(
    upstream: CompiledUpstream,
    request: ClientRequest,
    timeoutMs: number,
    holdsKey?: () => boolean,
    times?: TimeAccount,
  ): Attempt;
  /** How many requests may wait for a connection to the upstream. */
  poolLimits(upstream: CompiledUpstream): PoolLimits;
  /** The number of requests that this data plane has in flight at the upstream. */
  inFlight(upstream: CompiledUpstream): number;
}
