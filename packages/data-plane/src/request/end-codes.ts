import type { EndReason } from '@gateway/http/connection-guard';
import type { End } from '@gateway/http/exchange';
import type { ErrorCode } from '@gateway/shared/errors/error-table';

/** The error code of a request whose response the gateway ended before it was complete. */
export const CODE_OF_END = {
  drained: 'gateway_stopping',
  timed_out: 'response_timeout',
  internal_error: 'internal_error',
} as const satisfies Readonly<Record<EndReason, ErrorCode>>;

/** The gateway's reason to end an exchange; undefined if the caller left, or the upstream broke off. */
export function reasonOf(end: End): EndReason | undefined {
  return end in CODE_OF_END ? (end as EndReason) : undefined;
}
