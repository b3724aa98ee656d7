const HOUR_MS = 60 * 60 * 1000;

/** A session of the console ends when it was not used for this long. */
export const SESSION_IDLE_MS = 12 * HOUR_MS;
/** A session ends this long after the sign-in, however much it is used. */
export const SESSION_MAX_MS = 7 * 24 * HOUR_MS;
/** The use of a session is stored at most once in this time. */
export const SESSION_RENEWAL_MS = 60_000;

/** A session is alive if it was used and created after these times. */
export interface SessionBounds {
  readonly usedAfter: Date;
  readonly createdAfter: Date;
}

/** What a session must satisfy to be alive. */
export function sessionBounds(nowMs: number): SessionBounds {
  return {
    usedAfter: new Date(nowMs - SESSION_IDLE_MS),
    createdAfter: new Date(nowMs - SESSION_MAX_MS),
  };
}
