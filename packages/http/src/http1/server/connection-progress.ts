import type { ConnectionGuard } from '../../connection-guard.ts';

/** How far a connection has come: nothing has arrived, a part of a request head, or a whole one. */
export type ConnectionStage = 'accepted' | 'head' | 'request';

/** What is known of a connection, also after it has closed. */
export interface ConnectionProgress {
  readonly stage: ConnectionStage;
  /** Whether a response was sent, or at least its head. */
  readonly isAnswered: boolean;
  /** For what handles its requests. */
  readonly guard: ConnectionGuard;
}
