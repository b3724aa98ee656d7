import { HTTP2_END_REASONS } from '../http2/end-reasons.ts';

/** The reasons of the gateway to end a connection. Those of HTTP/2 may be error codes of Node as well. */
export const CONNECTION_END_REASONS = [
  'INTERNAL_ERROR',
  'UNREAD_BODY',
  ...HTTP2_END_REASONS,
] as const;
export type ConnectionEndReason = (typeof CONNECTION_END_REASONS)[number];
