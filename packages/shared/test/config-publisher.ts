import { randomBytes } from 'node:crypto';
import type { MasterKey } from '../src/config/master-keys.ts';
import {
  snapshotAttemptName,
  configLogSubject,
  NAMES,
  snapshotObject,
} from '../src/messaging/names.ts';
import { sealSnapshot, type SealedSnapshot } from '../src/snapshot/signed-snapshot.ts';
import { openLogEntry, sealLogEntry } from '../src/snapshot/signed-log-entry.ts';
import type { Delta, SnapshotEntry } from '../src/snapshot/log-schema.ts';
import { SNAPSHOT_FORMAT, type Snapshot, type SnapshotPointer } from '../src/snapshot/schema.ts';
import { jetstream } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/nats-core';
import { Objm, type ObjectStore } from '@nats-io/obj';

export function newKey(id = 'k1'): MasterKey {
  return { id, bytes: new Uint8Array(randomBytes(32)) };
}

export function snapshotOf(environment: string, version: number): Snapshot {
  const format = SNAPSHOT_FORMAT;
  return { format, environment, version, services: [], routes: [], tokens: [] };
}

/** A delta that changes only the version. */
export function deltaOf(environment: string, from: number, version = from + 1): Delta {
  const nothing = { put: [], remove: [] };
  return {
    kind: 'delta',
    format: SNAPSHOT_FORMAT,
    environment,
    from,
    version,
    since: { snapshot: 1, deltas: 1, bytes: 1 },
    services: nothing,
    routes: nothing,
    tokens: nothing,
  };
}

/** The log entry of a version that is published as a snapshot. */
export function snapshotEntryOf({
  environment,
  version,
  signature,
}: SnapshotPointer): SnapshotEntry {
  const format = SNAPSHOT_FORMAT;
  return { kind: 'snapshot', format, environment, version, pointer_signature: signature };
}

/** A snapshot of the version of this log entry. */
export function sealRepeated(entry: Uint8Array, environment: string, keys: readonly MasterKey[]) {
  const { entry: made, id } = openLogEntry(entry, environment, keys);
  const object = snapshotAttemptName(environment, made.version, 'f'.repeat(16), id);
  return sealSnapshot(snapshotOf(environment, made.version), object, keys);
}

/** A name that no other test uses; all tests share one server. */
export function newEnvironment(): string {
  return `env-${randomBytes(6).toString('hex')}`;
}

/** Publishes configuration to NATS as control planes do. */
export interface ConfigPublisher {
  readonly pointers: KV;
  readonly objects: ObjectStore;
  seal(environment: string, version: number, keys?: readonly MasterKey[]): Promise<SealedSnapshot>;
  /** Signs and stores the snapshot and updates the pointer. */
  publish(environment: string, version: number): Promise<SealedSnapshot>;
  /** Publishes a delta to the log; returns its bytes. */
  change(environment: string, from: number, version?: number): Promise<Uint8Array>;
  /** Publishes any bytes to the log. */
  append(environment: string, bytes: Uint8Array | string): Promise<void>;
}

/** The streams and buckets must exist. */
export async function openConfigPublisher(
  connection: NatsConnection,
  key: MasterKey,
): Promise<ConfigPublisher> {
  const client = jetstream(connection);
  const pointers = await new Kvm(connection).open(NAMES.configBucket);
  const objects = await new Objm(connection).open(NAMES.snapshotBucket);
  const seal = (environment: string, version: number, keys: readonly MasterKey[] = [key]) =>
    sealSnapshot(snapshotOf(environment, version), snapshotObject(environment, version), keys);
  return {
    pointers,
    objects,
    seal,
    async publish(environment, version) {
      const sealed = await seal(environment, version);
      await objects.putBlob({ name: sealed.pointer.object }, sealed.bytes);
      await pointers.put(environment, JSON.stringify(sealed.pointer));
      return sealed;
    },
    async change(environment, from, version) {
      const bytes = sealLogEntry(deltaOf(environment, from, version), [key]);
      await client.publish(configLogSubject(environment), bytes);
      return bytes;
    },
    async append(environment, bytes) {
      await client.publish(configLogSubject(environment), bytes);
    },
  };
}
