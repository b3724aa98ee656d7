import type { Clock } from '@gateway/shared/clock';
import type { TokenReach } from '@gateway/shared/tokens/scopes';
import type { ConfirmToken } from '../../access/caller.ts';
import type { Database } from '../../store/database.ts';

/** Runs a change in a transaction. */
export type RunChange = <T>(change: (transaction: Database) => Promise<T>) => Promise<T>;

/** The token that makes a change. */
export interface ChangeCaller {
  readonly tokenId: string;
  readonly confirmToken: ConfirmToken;
}

/** Who makes a change, and from where. Nulls: the control plane itself. */
export interface ChangeOrigin {
  readonly caller: ChangeCaller | null;
  /** The address of the client, taken from `X-Forwarded-For` if a trusted proxy sent it. */
  readonly clientAddress: string | null;
  readonly requestId: string | null;
  /** Creates the id of an audit event at this time (ms since the Unix epoch), or now. */
  readonly newEventId: (atMs?: number) => string;
  /** Undefined: the change has a transaction of its own, which ends with it. */
  readonly runChange?: RunChange | undefined;
  /** Measures how long the change waits for others; undefined: it fails instead, and whoever makes it does so again. */
  readonly clock?: Clock;
  /** Aborts if the caller has gone: a change that waits for others is then not made. */
  readonly signal?: AbortSignal;
  /** To whom an error may name tokens and routes; undefined: the control plane itself, to all. */
  readonly reach?: TokenReach;
}

/** The origin of a change that the control plane makes itself. */
export function ownOrigin(newId: (prefix: 'aud', atMs?: number) => string): ChangeOrigin {
  return {
    caller: null,
    clientAddress: null,
    requestId: null,
    newEventId: (atMs) => newId('aud', atMs),
  };
}
