import type { MasterKey } from '@gateway/shared/config/master-keys';
import type { RandomSource } from '@gateway/shared/ids';
import { attemptObject } from '@gateway/shared/messaging/names';
import { createPace } from '@gateway/shared/pace';
import { sealSnapshotText } from '@gateway/shared/snapshot/codec';
import { openLogEntry, sealLogEntry, type VerifiedEntry } from '@gateway/shared/snapshot/log-codec';
import type { LogEntry, SnapshotEntry } from '@gateway/shared/snapshot/log-schema';
import { SNAPSHOT_FORMAT, type SnapshotPointer } from '@gateway/shared/snapshot/schema';
import type { Clock } from '@gateway/shared/clock';
import { readChangedRows, type ChangedConfiguration } from '../store/configuration/changed-rows.ts';
import { readConfiguration } from '../store/configuration/configuration-rows.ts';
import type { Database } from '../store/database.ts';
import { markPublished, markSnapshot } from '../store/publication/publications.ts';
import type { PublisherSession } from '../store/publication/publisher-session.ts';
import { compileDelta } from './compile-delta.ts';
import { compileSnapshot } from './compile.ts';
import { decidePublication, type PublicationReason } from './decide-publication.ts';
import { nonce, readSnapshotWork, type SnapshotWork } from './snapshot-work.ts';
import type { SnapshotStore } from './snapshot-store.ts';
import {
  movePointer,
  objectExists,
  readPublication,
  type StoredPublication,
} from './stored-publication.ts';

export interface PublicationParts {
  readonly db: Database;
  readonly session: PublisherSession;
  readonly store: SnapshotStore;
  readonly keys: readonly MasterKey[];
  readonly clock: Clock;
  readonly random: RandomSource;
}

export interface PublicationDemands {
  /**
   * This process looks at the environment for the first time: then what is published must also be
   * signed with the newest key, and be what this version would publish.
   */
  readonly first: boolean;
  /** A snapshot is wanted of what was published as deltas, unless one was begun in the last so many ms. */
  readonly snapshotMinAgeMs: number | undefined;
}

export type PublicationResult =
  /** Another control plane is publishing this environment. */
  | { readonly kind: 'busy' }
  /** Another one published in between, though it held no lock any more. */
  | { readonly kind: 'lost_race' }
  | { readonly kind: 'unchanged'; readonly snapshotWork: SnapshotWork | undefined }
  | {
      readonly kind: 'published';
      readonly form: LogEntry['kind'];
      readonly version: number;
      readonly why: PublicationReason;
      /** From the oldest change in it to now; undefined where no change was waiting. */
      readonly lagMs: number | undefined;
      /** What is to be stored now that the lock is given back. */
      readonly snapshotWork: SnapshotWork | undefined;
      /** So many deltas came since the last snapshot that the next one should not wait. */
      readonly snapshotIsDue: boolean;
    };

/** Beyond these, what has changed is published as a snapshot. */
const MAX_DELTA_CHANGES = 500;
const MAX_DELTA_BYTES = 256 * 1024;
/** What a data plane may have to go through after a snapshot. */
const MAX_DELTAS = 1000;
const MAX_BYTES_OF_DELTAS = 8 * 1024 * 1024;
/** The event loop answers requests and publishes other environments as well. */
export const MAX_HOLD_MS = 5;

/**
 * Publishes an environment if there is anything to publish: as a delta, at the cost of what has
 * changed, where what is published can be led on from, else as a snapshot.
 *
 * What is newest never goes back, even if this process stalls and loses its lock: the log's end is read
 * before the rows, and an entry is taken only behind that end, so a publication that succeeds has read
 * rows that are no older than those of the one before it. The lock only saves work done twice. A crash
 * between any two steps leaves the outbox rows pending, and they are published again under a higher
 * version.
 */
export async function publishEnvironment(
  parts: PublicationParts,
  environment: string,
  demands: PublicationDemands,
): Promise<PublicationResult> {
  if (!(await parts.session.tryLock(environment))) return { kind: 'busy' };
  try {
    return await publishLocked(parts, environment, demands);
  } finally {
    await parts.session.unlock(environment);
  }
}

async function publishLocked(
  parts: PublicationParts,
  environment: string,
  { first, snapshotMinAgeMs }: PublicationDemands,
): Promise<PublicationResult> {
  const { db, store, keys } = parts;
  const published = await readPublication(store, environment, keys);
  const changes = await readChangedRows(db, environment, MAX_DELTA_CHANGES);
  if (changes === undefined) return { kind: 'unchanged', snapshotWork: undefined };
  const { pointer, tail } = published;
  const changed = changes.pendingIds.length > 0;
  const trusted = changed && snapshotMinAgeMs === undefined;
  const decision = decidePublication({
    pendingChanges: changes.pendingIds.length,
    configVersion: changes.configVersion,
    pointer,
    tail,
    objectExists: trusted || (await objectExists(store, pointer)),
    wantedKeyId: first ? keys[0]?.id : undefined,
    // Where something changed there is nothing to compare with, and a snapshot settles it.
    compiledAlike: !first || (!changed && (await isCompiledAlike(parts, environment, published))),
  });
  const work = async (end: VerifiedEntry | undefined) =>
    snapshotMinAgeMs === undefined || end === undefined
      ? undefined
      : await readSnapshotWork(parts, { environment, end, published }, snapshotMinAgeMs);
  if (!decision.publish) return { kind: 'unchanged', snapshotWork: await work(tail) };

  if (decision.form === 'delta' && tail !== undefined && pointer !== undefined) {
    const bytes = sealDelta(parts, changes, { pointer, tail, version: decision.version });
    if (bytes !== undefined) {
      if (!(await store.appendEntry(environment, bytes, published.storedTail.sequence))) {
        return { kind: 'lost_race' };
      }
      const lagMs = await markPublished(db, environment, decision, changes.pendingIds);
      const entry = openLogEntry(bytes, environment, keys);
      return { ...result(decision, 'delta', lagMs, entry), snapshotWork: await work(entry) };
    }
  }
  return publishSnapshot(parts, environment, { ...decision, published });
}

function result(
  decision: { readonly version: number; readonly why: PublicationReason },
  form: LogEntry['kind'],
  lagMs: number | undefined,
  proven?: VerifiedEntry,
) {
  const since = proven?.entry.kind === 'delta' ? proven.entry.since : undefined;
  const isDue =
    since !== undefined && (since.deltas >= MAX_DELTAS || since.bytes >= MAX_BYTES_OF_DELTAS);
  const { version, why } = decision;
  return { kind: 'published', form, version, why, lagMs, snapshotIsDue: isDue } as const;
}

/** undefined: what has changed is too much for a delta, or it is not known what. */
function sealDelta(
  { keys, clock }: PublicationParts,
  { changed }: ChangedConfiguration,
  at: { readonly pointer: SnapshotPointer; readonly tail: VerifiedEntry; readonly version: number },
): Uint8Array | undefined {
  if (changed === undefined) return undefined;
  const { entry } = at.tail;
  const before = entry.kind === 'delta' ? entry.since : { snapshot: 0, deltas: 0, bytes: 0 };
  const goesOn = at.pointer.version === before.snapshot;
  const since = {
    snapshot: at.pointer.version,
    deltas: (goesOn ? before.deltas : 0) + 1,
    bytes: goesOn ? before.bytes : 0,
  };
  const options = { from: entry.version, version: at.version, since, nowMs: clock.nowMs() };
  const delta = compileDelta(changed, options);
  const size = Buffer.byteLength(JSON.stringify(delta));
  if (size > MAX_DELTA_BYTES) return undefined;
  return sealLogEntry({ ...delta, since: { ...since, bytes: since.bytes + size } }, keys);
}

/** The object first, then the entry, which decides, then the pointer. */
async function publishSnapshot(
  parts: PublicationParts,
  environment: string,
  decision: {
    readonly version: number;
    readonly why: PublicationReason;
    readonly published: StoredPublication;
  },
): Promise<PublicationResult> {
  const { db, store, keys, clock, random } = parts;
  const { version, published } = decision;
  const startedMs = clock.monotonicMs();
  const pace = createPace(clock, MAX_HOLD_MS);
  const configuration = await readConfiguration(db, environment, pace);
  if (configuration === undefined) return { kind: 'unchanged', snapshotWork: undefined };
  const object = attemptObject(environment, version, nonce(random));
  const text = await compileSnapshot(configuration.rows, { version, nowMs: clock.nowMs() }, pace);
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
  return { ...result(decision, 'snapshot', lagMs), snapshotWork: undefined };
}

/**
 * Whether the newest version is there as the very bytes that its rows pack to. What came as deltas
 * since cannot be compared, and another release of zlib packs otherwise: both cost a publication.
 */
async function isCompiledAlike(
  { db, clock, keys }: PublicationParts,
  environment: string,
  { pointer, tail }: StoredPublication,
): Promise<boolean> {
  if (pointer === undefined || tail?.entry.version !== pointer.version) return false;
  const pace = createPace(clock, MAX_HOLD_MS);
  const configuration = await readConfiguration(db, environment, pace);
  if (configuration === undefined) return false;
  const options = { version: pointer.version, nowMs: clock.nowMs() };
  const text = await compileSnapshot(configuration.rows, options, pace);
  const sealed = await sealSnapshotText(text, pointer, keys);
  return sealed.pointer.sha256 === pointer.sha256;
}
