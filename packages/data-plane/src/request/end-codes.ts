import type { EndReason } from '@gateway/http/connection-guard';
import type { ErrorCode } from '@gateway/shared/errors/error-table';

/** The error code of a request whose response the gateway ended before it was complete. */
export const CODE_OF_END = {
  drained: 'gateway_stopping',
  timed_out: 'response_timeout',
  internal_error: 'internal_error',
} as const satisfies Readonly<Record<EndReason, ErrorCode>>;
