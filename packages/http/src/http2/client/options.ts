import type { Clock } from '../../clock.ts';
import { END_REASONS } from '../protocol.ts';
import type { SessionLimits } from '../http2-session.ts';
import type { WindowBudget } from '../window-budget.ts';

/** Why a connection to a server ended before its time, for metrics. */
export const CLIENT_END_REASONS = [
  ...END_REASONS,
  /** The server answers neither requests nor pings. */
  'HTTP2_SILENT',
] as const;
export type ClientEndReason = (typeof CLIENT_END_REASONS)[number];

/** The limits of one connection to a server. */
export interface ClientLimits extends SessionLimits {
  /** Exchanges at a time, if the server allows as many. */
  readonly maxConcurrentStreams: number;
  /** A ping is sent if nothing has arrived for so long, and an answer is due. */
  readonly silentMs: number;
  /** How long nothing may arrive after a ping. */
  readonly pingTimeoutMs: number;
}

export interface Http2ClientOptions {
  readonly clock: Clock;
  readonly limits?: Partial<ClientLimits>;
  /** How much larger than at their start the windows of all connections may be together. */
  readonly maxWindowBytes: number;
  /** Called for each connection that ends because of its server. */
  readonly ended?: (reason: ClientEndReason) => void;
}

/** What connections to servers share. */
export interface ClientState {
  readonly clock: Clock;
  readonly limits: ClientLimits;
  readonly budget: WindowBudget;
  readonly ended: (reason: ClientEndReason) => void;
}
