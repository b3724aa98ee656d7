import type { MasterKey } from '@gateway/shared/config/master-keys';
import type { Clock } from '@gateway/shared/clock';
import type { RandomSource } from '@gateway/shared/ids';
import { snapshotAttemptName } from '@gateway/shared/messaging/names';
import { createPace } from '@gateway/shared/pace';
import { sealSnapshotText } from '@gateway/shared/snapshot/signed-snapshot';
import type { VerifiedEntry } from '@gateway/shared/snapshot/signed-log-entry';
import {
  readConfiguration,
  type ConfigurationRows,
} from '../configuration/store/configuration-rows.ts';
import type { Database } from '../store/database.ts';
import { claimSnapshot, markSnapshot } from './store/publications.ts';
import { compileSnapshot, MAX_HOLD_MS } from './compile.ts';
import type { SnapshotStore } from './snapshot-store.ts';
import { movePointer, type StoredPublication } from './stored-publication.ts';

interface SnapshotDeps {
  readonly db: Database;
  readonly store: SnapshotStore;
  readonly keys: readonly MasterKey[];
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly reservedHosts: readonly string[];
}

/** The rows of a snapshot that repeats a version which was published as a delta. */
export interface SnapshotJob {
  readonly environment: string;
  readonly version: number;
  /** The log entry of that version. */
  readonly entryId: string;
  readonly rows: ConfigurationRows;
  readonly published: StoredPublication;
  /** How long it took to read the rows. */
  readonly readMs: number;
}

/** Entries before the snapshot that stay in the log, for data planes that are slightly behind. */
const KEPT_ENTRIES = 64;

/**
 * Reads the rows of the newest published version for a snapshot: for data planes that start or have
 * missed a delta.
 *
 * Call it under the environment's lock, so that the next delta reads its rows later. Rows that changed
 * since the version are in the snapshot early, and come again with that delta.
 *
 * @param minAgeMs how long ago the last snapshot must have been begun
 * @returns undefined if the version exists as a snapshot, or another control plane makes one.
 */
export async function readSnapshotJob(
  deps: SnapshotDeps,
  at: {
    readonly environment: string;
    readonly end: VerifiedEntry;
    readonly published: StoredPublication;
  },
  minAgeMs: number,
): Promise<SnapshotJob | undefined> {
  const { db, clock } = deps;
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

/** Compiles and stores the snapshot and moves the pointer to it, unless the pointer names a newer one. */
export async function storeSnapshot(deps: SnapshotDeps, job: SnapshotJob): Promise<void> {
  const { db, store, keys, clock, random, reservedHosts } = deps;
  const { environment, version, entryId, rows, published } = job;
  const startedMs = clock.monotonicMs();
  const object = snapshotAttemptName(environment, version, nonce(random), entryId);
  const options = { version, nowMs: clock.nowMs(), reservedHosts };
  const text = await compileSnapshot(rows, options, createPace(clock, MAX_HOLD_MS));
  const { pointer, bytes } = await sealSnapshotText(text, { environment, version, object }, keys);
  const costMs = job.readMs + clock.monotonicMs() - startedMs;
  await store.putObject(object, bytes);
  if (!(await movePointer(store, pointer, keys, published.stored))) {
    await store.removeObject(object);
    return;
  }
  await markSnapshot(db, environment, version, costMs);
}

/** How many entries of its log an environment needs, given the last one. */
export function keptEntries(tail: VerifiedEntry | undefined): number {
  return KEPT_ENTRIES + (tail?.entry.kind === 'delta' ? tail.entry.since.deltas : 0);
}

/** A part of an object's name that no other attempt has. */
export function nonce(random: RandomSource): string {
  const bytes = new Uint8Array(8);
  random(bytes);
  return Buffer.from(bytes).toString('hex');
}
