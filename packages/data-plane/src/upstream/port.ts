import type { ClientRequest } from '@gateway/http1/client/request-writer';
import type { UpstreamResponse } from '../request/upstream-response.ts';
import type { CompiledUpstream } from '../routing-table/routing-table.ts';

export interface AttemptError {
  /** What it is called in the record. */
  readonly name:
    | 'connect_refused'
    | 'connect_timeout'
    | 'connect_failed'
    | 'tls_failed'
    | 'address_refused'
    | 'reset'
    | 'invalid_response'
    | 'attempt_timeout'
    | 'request_body'
    | 'unsendable'
    | 'cancelled';
  /** Whether any of the request may have reached the upstream. */
  readonly sent: boolean;
}

export type AttemptOutcome =
  | { readonly response: UpstreamResponse; readonly error?: undefined }
  | { readonly response?: undefined; readonly error: AttemptError };

export interface Attempt {
  /** Never rejects. Settles when the head of the response is there, or the attempt failed. */
  readonly outcome: Promise<AttemptOutcome>;
  /** Ends the attempt and, where the response has begun, the response. */
  cancel(): void;
}

/** The way to the upstreams. */
export interface UpstreamClient {
  /** Begins an attempt that has `timeoutMs` for the head of its response. */
  begin(upstream: CompiledUpstream, request: ClientRequest, timeoutMs: number): Attempt;
  /** Requests in flight to the upstream from this data plane. */
  inFlight(upstream: CompiledUpstream): number;
}
