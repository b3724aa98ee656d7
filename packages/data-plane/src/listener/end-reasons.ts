import { END_REASONS } from '@gateway/http/http2/protocol';

/** The reasons of the gateway to end a connection. */
export const CONNECTION_END_REASONS = ['INTERNAL_ERROR', 'UNREAD_BODY', ...END_REASONS] as const;
export type ConnectionEndReason = (typeof CONNECTION_END_REASONS)[number];
