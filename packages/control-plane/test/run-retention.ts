import { createSeriesCleanup, deleteExpiredRows } from '../src/partitions/expired-rows.ts';
import { maintainPartitions } from '../src/partitions/maintain-partitions.ts';
import { cleanIdempotencyKeys } from '../src/partitions/key-cleanup.ts';
import {
  deleteOldVersions,
  deleteSessions,
  revokeExpired,
  type RetentionOptions,
} from '../src/partitions/retention.ts';

/** Does once all that the retention does. Rejects if Postgres fails, or if a table stays in use. */
export async function runRetention(options: RetentionOptions, signal: AbortSignal): Promise<void> {
  await maintainPartitions(options, signal);
  await cleanIdempotencyKeys(options, signal);
  await deleteOldVersions(options, signal);
  await deleteSessions(options, signal);
  await revokeExpired(options, signal);
  await deleteExpiredRows(options, signal);
  await createSeriesCleanup(options)(signal);
}
