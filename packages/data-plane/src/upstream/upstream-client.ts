import type { ClientRequest } from '@gateway/http/exchange';
import type { StreamProgress } from '../request/stream-progress.ts';
import type { TimeAccount } from '../request/time-account.ts';
import type { ResponseSink, UpstreamResponse } from '../request/upstream-response.ts';
import type { CompiledUpstream } from '../routing-table/routing-table.ts';
import type { AttemptError } from './attempt-end.ts';
import type { PoolLimits } from './pool-limits.ts';

/** Where the time of an attempt went. Known when its response has begun, or when it has failed. */
export interface AttemptTimes {
  /** How long it waited for one of the connections of the service because all were in use, ms. */
  readonly connectionWaitMs: number;
  /** For how much of a timeout the upstream was waited for, ms: not for a connection that others used. */
  readonly upstreamMs: number;
}

/** Receives how an attempt ends. One of these is called, once, perhaps before `begin` returns. Neither throws. */
export interface AttemptHandler {
  /** How long the body of the response may be silent, ms; without it, as long as the data plane says. */
  readonly bodyIdleTimeoutMs?: number | null;
  /**
   * The progress of a stream that may last: once a connection carries the request, the attempt ends when nothing happened
   * in either direction for `bodyIdleTimeoutMs`, and no timeout bounds it. undefined: the timeout bounds the time until
   * the head of the response, and only the body of the response must make progress.
   */
  readonly stream?: StreamProgress | undefined;
  /**
   * The head of the response has arrived.
   *
   * @param last whether it has no body
   * @returns what receives the body; undefined: nobody wants it
   */
  responded(response: UpstreamResponse & AttemptTimes, last: boolean): ResponseSink | undefined;
  failed(error: AttemptError, times: AttemptTimes): void;
}

/** Sends requests to upstreams. */
export interface UpstreamClient {
  /**
   * Starts an attempt. It fails if the head of the response has not arrived after `timeoutMs`, without the time in which
   * the body of the caller is awaited.
   *
   * @param holdsKey asked before anything is sent, which may be after a wait for a connection: whether the request still
   * holds its idempotency key. If not, the attempt fails with `key_lease_ended`
   * @param times enters `upstream` when a connection carries the request, and says when the caller is awaited; undefined:
   * it never is
   * @returns ends the attempt, and the response if it has begun
   */
  begin(
    upstream: CompiledUpstream,
    request: ClientRequest,
    timeoutMs: number,
    handler: AttemptHandler,
    holdsKey?: () => boolean,
    times?: TimeAccount,
  ): { cancel(): void };
  /** How many requests may wait for a connection to the upstream. */
  poolLimits(upstream: CompiledUpstream): PoolLimits;
  /** The number of requests that this data plane has in flight at the upstream. */
  inFlight(upstream: CompiledUpstream): number;
}
