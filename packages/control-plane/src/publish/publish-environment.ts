import type { MasterKey } from '@gateway/shared/config/master-keys';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { RandomSource } from '@gateway/shared/ids';
import { snapshotAttemptName } from '@gateway/shared/messaging/names';
import { createPace } from '@gateway/shared/pace';
import { sealSnapshotText } from '@gateway/shared/snapshot/signed-snapshot';
import {
  openLogEntry,
  sealLogEntry,
  type VerifiedEntry,
} from '@gateway/shared/snapshot/signed-log-entry';
import type { LogEntry, SnapshotEntry } from '@gateway/shared/snapshot/log-schema';
import { SNAPSHOT_FORMAT, type SnapshotPointer } from '@gateway/shared/snapshot/schema';
import type { Clock } from '@gateway/shared/clock';
import { readChangedRows, type ChangedConfiguration } from '../configuration/store/changed-rows.ts';
import {
  readConfiguration,
  type PendingChange,
} from '../configuration/store/configuration-rows.ts';
import type { Database } from '../store/database.ts';
import { markPublished, markSnapshot } from './store/publications.ts';
import type { PublisherSession } from './store/publisher-session.ts';
import { idsInLogEntry } from './ids-in-log-entry.ts';
import { compileDelta } from './compile-delta.ts';
import { compileSnapshot, MAX_HOLD_MS } from './compile.ts';
import { decidePublication, type PublicationReason } from './decide-publication.ts';
import { nonce, readSnapshotJob, type SnapshotJob } from './snapshot-job.ts';
import type { SnapshotStore } from './snapshot-store.ts';
import {
  movePointer,
  objectExists,
  readPublication,
  type StoredPublication,
} from './stored-publication.ts';

export interface PublicationDeps {
  readonly db: Database;
  readonly session: PublisherSession;
  readonly store: SnapshotStore;
  readonly keys: readonly MasterKey[];
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Logger;
  /** Hosts that no route gets. */
  readonly reservedHosts: readonly string[];
}

export interface PublicationRequest {
  /**
   * The first publication of the environment by this process: what is published must also be signed with
   * the newest key, and be what this version of the control plane compiles.
   */
  readonly isFirst: boolean;
  /** The newest version that a live data plane reports; 0 if none does. */
  readonly servedVersion: number;
  /** Requests a snapshot that repeats the deltas, unless one was begun within this time. */
  readonly snapshotMinAgeMs: number | undefined;
}

export type PublicationResult =
  /** Another control plane is publishing this environment. */
  | { readonly kind: 'busy' }
  /** Another control plane, which had lost its lock, published in between. */
  | { readonly kind: 'lost_race' }
  | { readonly kind: 'unchanged'; readonly snapshotJob: SnapshotJob | undefined }
  | {
      readonly kind: 'published';
      readonly form: LogEntry['kind'];
      readonly version: number;
      readonly why: PublicationReason;
      /** From the oldest change of the publication to now; undefined if it has no change. */
      readonly lagMs: number | undefined;
      /** To be stored after the lock is released. */
      readonly snapshotJob: SnapshotJob | undefined;
      /** The deltas since the last snapshot are so many that the next one should not wait. */
      readonly snapshotIsDue: boolean;
    };

/** Larger changes are published as a snapshot. */
const MAX_DELTA_CHANGES = 500;
const MAX_DELTA_BYTES = 256 * 1024;
/** The deltas that a data plane that starts applies after the snapshot. */
const MAX_DELTAS = 1000;
const MAX_BYTES_OF_DELTAS = 8 * 1024 * 1024;
/**
 * Publishes the changes of an environment, if there are any: as a delta if it can continue from what is
 * published, else as a snapshot.
 *
 * The published configuration never goes back, even if this process stalls and loses its lock: the end
 * of the log is read before the rows, and NATS accepts an entry only directly after that end. So the
 * rows of a publication that succeeds are no older than those of the one before. The lock only avoids
 * double work. After a crash between two steps the outbox rows are still pending: if the log ends with them as
 * they are, another publisher only marks them, else they are published again under a higher version, also by a process
 * that has just started.
 */
export async function publishEnvironment(
  deps: PublicationDeps,
  environment: string,
  request: PublicationRequest,
): Promise<PublicationResult> {
  if (!(await deps.session.tryLock(environment))) return { kind: 'busy' };
  try {
    return await publishLocked(deps, environment, request);
  } finally {
    await deps.session.unlock(environment);
  }
}

async function publishLocked(
  deps: PublicationDeps,
  environment: string,
  { isFirst, servedVersion, snapshotMinAgeMs }: PublicationRequest,
): Promise<PublicationResult> {
  const { db, store, keys } = deps;
  const published = await readPublication(store, environment, keys);
  const { pointer, tail } = published;
  const changes = isFirst
    ? await readChangedRows(db, environment, MAX_DELTA_CHANGES)
    : await unpublishedChanges(deps, environment, tail);
  if (changes === undefined) return { kind: 'unchanged', snapshotJob: undefined };
  const hasChanges = changes.pending.length > 0;
  // A plain change does not pay for the look at the object; the regular check of the store finds its loss.
  const skipsObject = hasChanges && snapshotMinAgeMs === undefined;
  const decision = decidePublication({
    pendingChanges: changes.pending.length,
    configVersion: changes.configVersion,
    servedVersion,
    pointer,
    tail,
    objectExists: skipsObject || (await objectExists(store, pointer)),
    requiredKeyId: isFirst ? keys[0]?.id : undefined,
    // With pending changes there is nothing to compare with, so the first publication is a snapshot.
    isCompiledAlike:
      !isFirst || (!hasChanges && (await isCompiledAlike(deps, environment, published))),
  });
  const snapshotJob = async (end: VerifiedEntry | undefined) =>
    snapshotMinAgeMs === undefined || end === undefined
      ? undefined
      : await readSnapshotJob(deps, { environment, end, published }, snapshotMinAgeMs);
  if (!decision.publish) return { kind: 'unchanged', snapshotJob: await snapshotJob(tail) };

  if (decision.form === 'delta' && tail !== undefined && pointer !== undefined) {
    const bytes = sealDelta(deps, changes, { pointer, tail, version: decision.version });
    if (bytes !== undefined) {
      if (!(await store.appendEntry(environment, bytes, published.storedTail.sequence))) {
        return { kind: 'lost_race' };
      }
      const lagMs = await markPublished(db, environment, decision, idsOf(changes.pending));
      const entry = openLogEntry(bytes, environment, keys);
      return { ...result(decision, 'delta', lagMs, entry), snapshotJob: await snapshotJob(entry) };
    }
  }
  return publishSnapshot(deps, environment, { ...decision, published });
}

/** The changes that are not published, after those are marked that the end of the log contains. */
async function unpublishedChanges(
  { db, clock, log, reservedHosts }: PublicationDeps,
  environment: string,
  tail: VerifiedEntry | undefined,
): Promise<ChangedConfiguration | undefined> {
  const changes = await readChangedRows(db, environment, MAX_DELTA_CHANGES);
  if (tail === undefined || changes === undefined) return changes;
  const ids = idsInLogEntry(tail.entry, changes, { nowMs: clock.nowMs(), reservedHosts });
  if (ids.length === 0) return changes;
  const { version } = tail.entry;
  await markPublished(db, environment, { version, why: 'changed' }, ids);
  log.info({ environment, version }, 'interrupted publication marked');
  return readChangedRows(db, environment, MAX_DELTA_CHANGES);
}

const idsOf = (pending: readonly PendingChange[]) => pending.map(({ id }) => id);

function result(
  decision: { readonly version: number; readonly why: PublicationReason },
  form: LogEntry['kind'],
  lagMs: number | undefined,
  written?: VerifiedEntry,
) {
  const since = written?.entry.kind === 'delta' ? written.entry.since : undefined;
  const isDue =
    since !== undefined && (since.deltas >= MAX_DELTAS || since.bytes >= MAX_BYTES_OF_DELTAS);
  const { version, why } = decision;
  return { kind: 'published', form, version, why, lagMs, snapshotIsDue: isDue } as const;
}

/** @returns undefined if the changes are too large for a delta, or not known */
function sealDelta(
  { keys, clock, reservedHosts }: PublicationDeps,
  { changed, pending }: ChangedConfiguration,
  at: { readonly pointer: SnapshotPointer; readonly tail: VerifiedEntry; readonly version: number },
): Uint8Array | undefined {
  if (changed === undefined) return undefined;
  const { entry } = at.tail;
  const before = entry.kind === 'delta' ? entry.since : { snapshot: 0, deltas: 0, bytes: 0 };
  const isSameSnapshot = at.pointer.version === before.snapshot;
  const since = {
    snapshot: at.pointer.version,
    deltas: (isSameSnapshot ? before.deltas : 0) + 1,
    bytes: isSameSnapshot ? before.bytes : 0,
  };
  const nowMs = clock.nowMs();
  const options = { from: entry.version, version: at.version, since, nowMs, reservedHosts };
  const delta = { ...compileDelta(changed, options), changes: idsOf(pending) };
  const size = Buffer.byteLength(JSON.stringify(delta));
  if (size > MAX_DELTA_BYTES) return undefined;
  return sealLogEntry({ ...delta, since: { ...since, bytes: since.bytes + size } }, keys);
}

/** Writes the object, then the log entry, which decides, then the pointer. */
async function publishSnapshot(
  deps: PublicationDeps,
  environment: string,
  decision: {
    readonly version: number;
    readonly why: PublicationReason;
    readonly published: StoredPublication;
  },
): Promise<PublicationResult> {
  const { db, store, keys, clock, random, reservedHosts } = deps;
  const { version, published } = decision;
  const startedMs = clock.monotonicMs();
  const pace = createPace(clock, MAX_HOLD_MS);
  const configuration = await readConfiguration(db, environment, pace);
  if (configuration === undefined) return { kind: 'unchanged', snapshotJob: undefined };
  const object = snapshotAttemptName(environment, version, nonce(random));
  const options = { version, nowMs: clock.nowMs(), reservedHosts };
  const text = await compileSnapshot(configuration.rows, options, pace);
  const { pointer, bytes } = await sealSnapshotText(text, { environment, version, object }, keys);
  const costMs = clock.monotonicMs() - startedMs;
  await store.putObject(object, bytes);
  const entry: SnapshotEntry = {
    kind: 'snapshot',
    format: SNAPSHOT_FORMAT,
    environment,
    version,
    pointer_signature: pointer.signature,
  };
  const sealed = sealLogEntry(entry, keys);
  if (
    !(await store.appendEntry(environment, sealed, published.storedTail.sequence)) ||
    !(await movePointer(store, pointer, keys, published.stored))
  ) {
    await store.removeObject(object);
    return { kind: 'lost_race' };
  }
  const lagMs = await markPublished(db, environment, decision, configuration.pendingIds);
  await markSnapshot(db, environment, version, costMs);
  return { ...result(decision, 'snapshot', lagMs), snapshotJob: undefined };
}

/**
 * Whether the newest version is stored as exactly the bytes that its rows compile to now. Deltas since
 * the snapshot cannot be compared, and another release of zlib compresses differently: both cost one
 * publication.
 */
async function isCompiledAlike(
  { db, clock, keys, reservedHosts }: PublicationDeps,
  environment: string,
  { pointer, tail }: StoredPublication,
): Promise<boolean> {
  if (pointer === undefined || tail?.entry.version !== pointer.version) return false;
  const pace = createPace(clock, MAX_HOLD_MS);
  const configuration = await readConfiguration(db, environment, pace);
  if (configuration === undefined) return false;
  const options = { version: pointer.version, nowMs: clock.nowMs(), reservedHosts };
  const text = await compileSnapshot(configuration.rows, options, pace);
  const sealed = await sealSnapshotText(text, pointer, keys);
  return sealed.pointer.sha256 === pointer.sha256;
}
