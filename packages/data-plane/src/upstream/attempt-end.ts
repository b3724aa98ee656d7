import type { UpstreamResponse } from '../request/upstream-response.ts';

/** Whose fault it is that an attempt has no usable response. Only a fault of the upstream counts against its health. */
export type Fault = 'upstream' | 'gateway' | 'caller';

/**
 * Why an attempt failed, as in its record, and whose fault that is. docs/use/policies/upstream-health.md lists the same
 * names.
 */
export const ATTEMPT_ERRORS = {
  connect_refused: 'upstream',
  connect_timeout: 'upstream',
  connect_failed: 'upstream',
  name_not_found: 'upstream',
  tls_failed: 'upstream',
  reset: 'upstream',
  invalid_response: 'upstream',
  attempt_timeout: 'upstream',
  // All connections that the service may have were in use: no room to wait, or none became free in time.
  max_pending: 'gateway',
  max_connections: 'gateway',
  // The name servers of this data plane did not answer. That says nothing about the upstream.
  dns_failed: 'gateway',
  address_refused: 'gateway',
  // The operating system gave this data plane no file descriptor, port or memory.
  system_resources: 'gateway',
  // This data plane was paused, and nothing was sent before the time was up.
  gateway_paused: 'gateway',
  response_head_too_large: 'gateway',
  internal_error: 'gateway',
  unsendable: 'gateway',
  key_lease_ended: 'gateway',
  request_body: 'caller',
  cancelled: 'caller',
} as const satisfies Readonly<Record<string, Fault>>;

export type AttemptErrorName = keyof typeof ATTEMPT_ERRORS;

/** Why an attempt failed. */
export interface AttemptError {
  readonly name: AttemptErrorName;
  /** Whether any of the request may have reached the upstream. */
  readonly sent: boolean;
}

/**
 * How an attempt ended: with a response, or without one. It was never sent (`error.sent` is false), or sent and not
 * answered, or answered badly: with invalid HTTP, or with the status of a failure.
 */
export type AttemptEnd =
  | { readonly response: Pick<UpstreamResponse, 'status' | 'fields'>; readonly error?: undefined }
  | { readonly response?: undefined; readonly error: AttemptError };

/** Whether the error of an attempt in a record is the fault of its upstream. */
export function isFaultOfUpstream(name: string): boolean {
  return (ATTEMPT_ERRORS as Readonly<Record<string, Fault>>)[name] === 'upstream';
}

/** Whose fault the error is. */
export function faultOf({ name }: Pick<AttemptError, 'name'>): Fault {
  return ATTEMPT_ERRORS[name];
}
