import { randomBytes } from 'node:crypto';
import type { MasterKey } from '@gateway/shared/config/master-keys';
import { NAMES, snapshotObject } from '@gateway/shared/messaging/names';
import { sealSnapshot, type SealedSnapshot } from '@gateway/shared/snapshot/codec';
import type { Snapshot } from '@gateway/shared/snapshot/schema';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/nats-core';
import { Objm, type ObjectStore } from '@nats-io/obj';

export function newKey(id = 'k1'): MasterKey {
  return { id, bytes: new Uint8Array(randomBytes(32)) };
}

export function snapshotOf(environment: string, version: number): Snapshot {
  return { format: 1, environment, version, services: [], routes: [], tokens: [] };
}

/** A name that no other test uses, as all of them share one server. */
export function newEnvironment(): string {
  return `env-${randomBytes(6).toString('hex')}`;
}

/** Puts configuration into NATS in the way in which control planes do. */
export interface ConfigPublisher {
  readonly pointers: KV;
  readonly objects: ObjectStore;
  seal(environment: string, version: number, keys?: readonly MasterKey[]): Promise<SealedSnapshot>;
  /** Seals, stores and points to it. */
  publish(environment: string, version: number): Promise<SealedSnapshot>;
}

/** The topology must be there. */
export async function openConfigPublisher(
  connection: NatsConnection,
  key: MasterKey,
): Promise<ConfigPublisher> {
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
  };
}
