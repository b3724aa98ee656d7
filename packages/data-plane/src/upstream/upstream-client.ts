import type { ClientRequest } from '@gateway/http1/client/request-writer';
import type { UpstreamResponse } from '../request/upstream-response.ts';
import type { CompiledUpstream } from '../routing-table/routing-table.ts';
import type { PoolLimits } from './pool-limits.ts';

/** Why an attempt failed. */
export interface AttemptError {
  /** The `error` of the attempt in the record. */
  readonly name:
    | 'max_pending'
    | 'connect_refused'
    | 'connect_timeout'
    | 'connect_failed'
    | 'tls_failed'
    | 'address_refused'
    | 'reset'
    | 'invalid_response'
    | 'attempt_timeout'
    | 'key_lease_ended'
    | 'request_body'
    | 'unsendable'
    | 'cancelled';
  /** Whether any of the request may have reached the upstream. */
  readonly sent: boolean;
}

/** The response of an attempt, or why there is none. */
export type AttemptOutcome =
  | { readonly response: UpstreamResponse; readonly error?: undefined }
  | { readonly response?: undefined; readonly error: AttemptError };

/** A request on its way to an upstream. */
export interface Attempt {
  /** Settles when the head of the response has arrived or the attempt has failed. Never rejects. */
  readonly outcome: Promise<AttemptOutcome>;
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
   */
  begin(
    upstream: CompiledUpstream,
    request: ClientRequest,
    timeoutMs: number,
    holdsKey?: () => boolean,
  ): Attempt;
  /** How many requests may wait for a connection to the upstream. */
  poolLimits(upstream: CompiledUpstream): PoolLimits;
  /** The number of requests that this data plane has in flight at the upstream. */
  inFlight(upstream: CompiledUpstream): number;
}
