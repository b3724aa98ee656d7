import type { MasterKey } from '@gateway/shared/config/master-keys';
import type { Clock } from '@gateway/shared/clock';
import type { RandomSource } from '@gateway/shared/ids';
import { attemptObject } from '@gateway/shared/messaging/names';
import { createPace } from '@gateway/shared/pace';
import { sealSnapshotText } from '@gateway/shared/snapshot/codec';
import type { VerifiedEntry } from '@gateway/shared/snapshot/log-codec';
import {
  readConfiguration,
  type ConfigurationRows,
} from '../store/configuration/configuration-rows.ts';
import type { Database } from '../store/database.ts';
import { claimSnapshot, markSnapshot } from '../store/publication/publications.ts';
import { compileSnapshot } from './compile.ts';
import type { SnapshotStore } from './snapshot-store.ts';
import { movePointer, type StoredPublication } from './stored-publication.ts';

interface WorkParts {
  readonly db: Database;
  readonly store: SnapshotStore;
  readonly keys: readonly MasterKey[];
  readonly clock: Clock;
  readonly random: RandomSource;
}

/** Rows that a snapshot is to be made of: of a version that the log has made already. */
export interface SnapshotWork {
  readonly environment: string;
  readonly version: number;
  readonly entryId: string;
  readonly rows: ConfigurationRows;
  readonly published: StoredPublication;
  readonly readMs: number;
}

const MAX_HOLD_MS = 5;
/** Of a log that a snapshot makes superfluous: for data planes that are a little behind it. */
const KEPT_ENTRIES = 64;

/**
 * Reads the rows of the log's newest version, so that a snapshot can be made of them: for data planes
 * that start, that have missed a delta, or that know snapshots alone. It holds nothing new.
 *
 * To be called under the environment's lock: the next delta reads its rows later than this does. Rows
 * that were changed since the version are in the snapshot early, and come again with that delta.
 *
 * @returns undefined where the version is there as a snapshot already, or is being made one.
 */
export async function readSnapshotWork(
  parts: WorkParts,
  at: {
    readonly environment: string;
    readonly end: VerifiedEntry;
    readonly published: StoredPublication;
  },
  minAgeMs: number,
): Promise<SnapshotWork | undefined> {
  const { db, clock } = parts;
  const { environment, end, published } = at;
  const { version } = end.entry;
  if (published.pointer?.version === version) {
    await markSnapshot(db, environment, version, undefined);
    return undefined;
  }
  if (!(await claimSnapshot(db, environment, minAgeMs))) return undefined;
  const startedMs = clock.monotonicMs();
  const configuration = await readConfiguration(db, environment, createPace(clock, MAX_HOLD_MS));
  if (configuration === undefined) return undefined;
  const readMs = clock.monotonicMs() - startedMs;
  return { environment, version, entryId: end.id, rows: configuration.rows, published, readMs };
}

/** Stores the snapshot and points to it, unless a newer one is there; then shortens the log. */
export async function storeSnapshotWork(parts: WorkParts, work: SnapshotWork): Promise<void> {
  const { db, store, keys, clock, random } = parts;
  const { environment, version, entryId, rows, published } = work;
  const startedMs = clock.monotonicMs();
  const object = attemptObject(environment, version, nonce(random), entryId);
  const options = { version, nowMs: clock.nowMs() };
  const text = await compileSnapshot(rows, options, createPace(clock, MAX_HOLD_MS));
  const { pointer, bytes } = await sealSnapshotText(text, { environment, version, object }, keys);
  const costMs = work.readMs + clock.monotonicMs() - startedMs;
  await store.putObject(object, bytes);
  if (!(await movePointer(store, pointer, keys, published.stored))) {
    await store.removeObject(object);
    return;
  }
  await markSnapshot(db, environment, version, costMs);
}

/** How much of its log an environment needs, whose last entry this is. */
export function keptEntries(tail: VerifiedEntry | undefined): number {
  return KEPT_ENTRIES + (tail?.entry.kind === 'delta' ? tail.entry.since.deltas : 0);
}

export function nonce(random: RandomSource): string {
  const bytes = new Uint8Array(8);
  random(bytes);
  return Buffer.from(bytes).toString('hex');
}
