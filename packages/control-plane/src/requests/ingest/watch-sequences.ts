import { pause, type Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { Database } from '../../store/database.ts';
import { closeGaps, countMissingBatches, deleteEndedProcesses } from '../store/record-batches.ts';
import type { IngestMetrics } from './ingest-metrics.ts';

const EVERY_MS = 60_000;
/** How long a process is remembered after its last batch. A spool may be sent this much later. */
const REMEMBERED_MS = 24 * 60 * 60 * 1000;

export interface WatchSequencesOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<IngestMetrics, 'missing'>;
}

/** Counts each minute the batches that are missing. All control planes count the same ones. */
export async function watchSequences(
  options: WatchSequencesOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await measureSequences(options).catch((error: unknown) => {
      options.log.warn(
        { reason: String(error) },
        'count of missing record batches failed; retrying in a minute',
      );
    });
    await pause(options.clock, EVERY_MS, signal);
  }
}

/** @throws if Postgres fails */
export async function measureSequences({
  db,
  clock,
  metrics,
}: WatchSequencesOptions): Promise<void> {
  await deleteEndedProcesses(db, new Date(clock.nowMs() - REMEMBERED_MS));
  await closeGaps(db);
  metrics.missing.set(await countMissingBatches(db));
}
