import { pause } from '@gateway/shared/clock';
import type { createIdFactory } from '@gateway/shared/ids';
import { ownOrigin } from '../changes/store/change-origin.ts';
import { deleteChanges, deleteVersions } from '../configuration/store/config-versions.ts';
import { sessionBounds } from '../access/session-life.ts';
import { deleteEndedSessions } from '../access/store/sessions.ts';
import { revokeExpiredTokens } from '../tokens/store/revoke-expired-tokens.ts';
import { createSeriesCleanup, deleteExpiredRows } from './expired-rows.ts';
import { cleanIdempotencyKeys, type KeyCleanupOptions } from './key-cleanup.ts';
import { keepPartitionsOrLog, type PartitionOptions } from './maintain-partitions.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** A run that has nothing to do costs next to nothing. */
const EVERY_MS = 60 * 1000;
/** Versions and tokens are cleaned up once in this number of runs. */
const RUNS_PER_CLEANUP = 60;
/** A token that expired this long ago is revoked, so that it leaves the snapshots and its name is free. */
const EXPIRED_TOKEN_DAYS = 7;

export interface RetentionOptions extends PartitionOptions, Pick<KeyCleanupOptions, 'droppedKeys'> {
  readonly newId: ReturnType<typeof createIdFactory>;
  /** How long versions of configurations can be listed and rolled back to. */
  readonly historyDays: number;
}

export interface Retention {
  /** Ends after the step that is running. */
  stop(): Promise<void>;
}

/**
 * Keeps the partitions and cleans the idempotency keys every minute. Every hour it deletes old versions of configurations,
 * ended sessions of the console, rows whose retention has ended and series without statistics, and revokes tokens that
 * expired a week ago. Any number of control planes may run it side by side.
 */
export function startRetention(options: RetentionOptions): Retention {
  const stopping = new AbortController();
  const ended = loop(options, stopping.signal);
  return {
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

async function loop(options: RetentionOptions, signal: AbortSignal): Promise<void> {
  const { clock, log } = options;
  const cleanSeries = createSeriesCleanup(options);
  for (let run = 0; !signal.aborted; run += 1) {
    await keepPartitionsOrLog(options, signal);
    await cleanIdempotencyKeys(options, signal).catch((error: unknown) => {
      log.error({ err: error }, 'cleanup of idempotency keys failed; retrying in a minute');
    });
    if (run % RUNS_PER_CLEANUP === 0) {
      await deleteOldVersions(options, signal).catch((error: unknown) => {
        log.error({ err: error }, 'deletion of old versions failed; retrying in an hour');
      });
      await deleteSessions(options, signal).catch((error: unknown) => {
        log.error({ err: error }, 'deletion of ended sessions failed; retrying in an hour');
      });
      await revokeExpired(options, signal).catch((error: unknown) => {
        log.error({ err: error }, 'revocation of expired tokens failed; retrying in an hour');
      });
      await deleteExpiredRows(options, signal).catch((error: unknown) => {
        log.error({ err: error }, 'deletion of expired rows failed; retrying in an hour');
      });
      await cleanSeries(signal).catch((error: unknown) => {
        log.error({ err: error }, 'deletion of unused series failed; retrying in an hour');
      });
    }
    await pause(clock, EVERY_MS, signal);
  }
}

/** Deletes the versions, and what they consist of, that are older than `historyDays`. @throws if Postgres fails. */
export async function deleteOldVersions(
  { db, clock, historyDays }: RetentionOptions,
  signal: AbortSignal,
): Promise<void> {
  const keptFrom = clock.nowMs() - historyDays * DAY_MS;
  while (!signal.aborted && (await deleteVersions(db, keptFrom)) > 0);
  while (!signal.aborted && (await deleteChanges(db)) > 0);
}

/** Deletes the sessions of the console that have ended. @throws if Postgres fails. */
export async function deleteSessions(
  { db, clock }: Pick<RetentionOptions, 'db' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const now = new Date(clock.nowMs());
  const bounds = sessionBounds(+now);
  while (!signal.aborted && (await deleteEndedSessions(db, bounds, now)) > 0);
}

/** Revokes the tokens that expired a week ago. @throws if Postgres fails. */
export async function revokeExpired(
  { db, clock, newId }: RetentionOptions,
  signal: AbortSignal,
): Promise<void> {
  const expiredBefore = new Date(clock.nowMs() - EXPIRED_TOKEN_DAYS * DAY_MS);
  const origin = ownOrigin(newId);
  while (!signal.aborted && (await revokeExpiredTokens(db, expiredBefore, origin)) > 0);
}
