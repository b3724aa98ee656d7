import { pause, type Clock } from '@gateway/shared/clock';
import type { PartitionedTable } from '../domain/partitioned-table.ts';
import type { Database } from '../store/database.ts';
import { isAway } from '../store/failures.ts';
import {
  abandonMove,
  beginMove,
  copyLateRows,
  endMove,
  findMove,
  type Move,
  type RowKey,
} from '../store/partitions/late-rows.ts';
import { NoTurnError, untilDone } from './until-done.ts';

/** Another process copies its batch meanwhile. */
const BUSY_RETRY_MS = 50;

interface Parts {
  readonly db: Database;
  readonly clock: Clock;
}

/**
 * Makes the partitions of these periods and moves their rows into them from the DEFAULT one. Nobody sees
 * a row missing or twice, and nobody waits for longer than one exchange of tables takes. A move that was
 * broken off is gone on with by whoever comes next, first into the periods that it was begun for.
 *
 * @returns whether it was this process that ended it.
 * @throws where Postgres fails, or where a step did not come to its turn.
 */
export async function moveLateRows(
  { db, clock }: Parts,
  table: PartitionedTable,
  starts: readonly number[],
  signal: AbortSignal,
): Promise<boolean> {
  await untilDone((timeoutMs) => beginMove(db, table, starts, timeoutMs), clock, signal);
  const move = await findMove(db, table);
  if (move === undefined) return false;
  try {
    await copyAll({ db, clock }, table, move, signal);
    return await untilDone((timeoutMs) => endMove(db, table, move, timeoutMs), clock, signal);
  } catch (error) {
    // Such as a column or a partition that was added meanwhile, and that the copy knows nothing of: the
    // next run tries it from scratch.
    const isPassing = isAway(error) || error instanceof NoTurnError;
    if (!isPassing) await untilDone((ms) => abandonMove(db, table, ms), clock, signal);
    throw error;
  }
}

async function copyAll(
  { db, clock }: Parts,
  table: PartitionedTable,
  move: Move,
  signal: AbortSignal,
): Promise<void> {
  let after: RowKey | undefined;
  while (!signal.aborted) {
    const copied = await copyLateRows(db, table, move, after);
    if (copied === undefined || copied === 'already') return;
    if (copied === 'busy' || copied === 'locked') await pause(clock, BUSY_RETRY_MS, signal);
    else after = copied;
  }
}
