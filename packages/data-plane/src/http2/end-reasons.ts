/** The reasons of the gateway to end an HTTP/2 connection. Node adds its own error codes. */
export const HTTP2_END_REASONS = [
  'HTTP2_IDLE',
  'HTTP2_RESETS',
  'HTTP2_FLOOD',
  'HTTP2_INVALID_FRAME',
  'HTTP2_ERROR',
] as const;
export type Http2EndReason = (typeof HTTP2_END_REASONS)[number];
