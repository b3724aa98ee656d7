import type { MasterKey } from '@gateway/shared/config/master-keys';
import type { RandomSource } from '@gateway/shared/ids';
import { openPointer, sealSnapshot, SnapshotRefusedError } from '@gateway/shared/snapshot/codec';
import type { Snapshot, SnapshotPointer } from '@gateway/shared/snapshot/schema';
import type { Clock } from '@gateway/shared/clock';
import type { Database } from '../store/database.ts';
import { readConfiguration } from '../store/configuration-rows.ts';
import { markPublished } from '../store/publications.ts';
import type { PublisherSession } from '../store/publisher-session.ts';
import { compileSnapshot } from './compile.ts';
import { decidePublication, type PublicationReason } from './decide-publication.ts';
import { attemptObject } from './old-objects.ts';
import type { SnapshotStore, StoredPointer } from './snapshot-store.ts';

export interface PublicationParts {
  readonly db: Database;
  readonly session: PublisherSession;
  readonly store: SnapshotStore;
  readonly keys: readonly MasterKey[];
  readonly clock: Clock;
  readonly random: RandomSource;
}

export type PublicationResult =
  | { readonly kind: 'unchanged' }
  /** Another control plane is publishing this environment. */
  | { readonly kind: 'busy' }
  /** Another one published in between, though it held no lock any more. */
  | { readonly kind: 'lost_race' }
  | {
      readonly kind: 'published';
      readonly version: number;
      readonly why: PublicationReason;
      /** From the oldest change in it to now; undefined where no change was waiting. */
      readonly lagMs: number | undefined;
    };

/**
 * Publishes an environment if there is anything to publish.
 *
 * What is newest never goes back, even if this process stalls and loses its lock: the pointer is
 * read before the rows and replaced by compare-and-set, so a publication that succeeds has read rows
 * that are no older than those of the one it replaces. The lock only saves work done twice. A crash
 * between any two steps leaves the outbox rows pending, and they are published again under a higher
 * version.
 *
 * @param first whether this process looks at the environment for the first time: then what is
 * published must also be signed with the newest key, and be what this version would publish.
 */
export async function publishEnvironment(
  parts: PublicationParts,
  environment: string,
  first: boolean,
): Promise<PublicationResult> {
  if (!(await parts.session.tryLock(environment))) return { kind: 'busy' };
  try {
    return await publishLocked(parts, environment, first);
  } finally {
    await parts.session.unlock(environment);
  }
}

async function publishLocked(
  parts: PublicationParts,
  environment: string,
  first: boolean,
): Promise<PublicationResult> {
  const { db, store, keys, clock, random } = parts;
  const stored = await store.readPointer(environment);
  const configuration = await readConfiguration(db, environment);
  if (configuration === undefined) return { kind: 'unchanged' };
  const { rows, configVersion, pendingIds } = configuration;
  const pointer = provenPointer(stored, environment, keys);
  const compile = (version: number) => compileSnapshot(rows, { version, nowMs: clock.nowMs() });
  const looks = first && pendingIds.length === 0 && pointer !== undefined;
  const decision = decidePublication({
    pendingChanges: pendingIds.length,
    configVersion,
    pointer,
    objectExists: pendingIds.length > 0 || (await objectExists(store, pointer)),
    wantedKeyId: first ? keys[0]?.id : undefined,
    compiledAlike: !looks || (await isPackedAs(pointer, compile(pointer.version), keys)),
  });
  if (!decision.publish) return { kind: 'unchanged' };

  const object = attemptObject(environment, decision.version, nonce(random));
  const sealed = await sealSnapshot(compile(decision.version), object, keys);
  await store.putObject(object, sealed.bytes);
  const text = JSON.stringify(sealed.pointer);
  if (!(await store.putPointer(environment, text, stored.revision))) {
    await store.removeObject(object);
    return { kind: 'lost_race' };
  }
  const lagMs = await markPublished(db, environment, decision.version, pendingIds);
  return { kind: 'published', version: decision.version, why: decision.why, lagMs };
}

/** The pointer if a master key proves it; one that does not verify counts as missing. */
export function provenPointer(
  stored: StoredPointer,
  environment: string,
  keys: readonly MasterKey[],
): SnapshotPointer | undefined {
  if (stored.text === undefined) return undefined;
  try {
    return openPointer(stored.text, environment, keys);
  } catch (error) {
    if (error instanceof SnapshotRefusedError) return undefined;
    throw error;
  }
}

export async function objectExists(
  store: SnapshotStore,
  pointer: SnapshotPointer | undefined,
): Promise<boolean> {
  return pointer !== undefined && (await store.hasObject(pointer.object));
}

/**
 * Whether the pointer names the very bytes that this snapshot packs to. Another release of zlib packs
 * otherwise, which costs a publication and nothing else.
 */
async function isPackedAs(
  pointer: SnapshotPointer,
  snapshot: Snapshot,
  keys: readonly MasterKey[],
): Promise<boolean> {
  const sealed = await sealSnapshot(snapshot, pointer.object, keys);
  return sealed.pointer.sha256 === pointer.sha256;
}

function nonce(random: RandomSource): string {
  const bytes = new Uint8Array(8);
  random(bytes);
  return Buffer.from(bytes).toString('hex');
}
