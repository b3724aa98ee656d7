import {
  CONFIG_WANTED_SUBJECTS,
  configLogSubject,
  environmentOfSubject,
  NAMES,
} from '@gateway/shared/messaging/names';
import { ReadyStreams } from '@gateway/shared/messaging/ready-streams';
import {
  jetstream,
  JetStreamApiError,
  type JetStreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/nats-core';
import { Objm } from '@nats-io/obj';
import type { SnapshotStore } from './snapshot-store.ts';

/** Long enough for a loaded server, short enough to notice an outage quickly. */
const CALL_TIMEOUT_MS = 2000;

/** "wrong last sequence": the two codes with which servers refuse a compare-and-set. */
const LOST_RACE_CODES = new Set([10071, 10164]);

const POINTER_STREAM = `KV_${NAMES.configBucket}`;
const OBJECT_STREAM = `OBJ_${NAMES.snapshotBucket}`;
const META_SUBJECT = `$O.${NAMES.snapshotBucket}.M.`;
const CHUNK_SUBJECT = `$O.${NAMES.snapshotBucket}.C.`;

/**
 * Stores snapshots in a NATS object store, pointers in a KV bucket, and deltas in a stream. Opening it
 * makes no call to NATS, so it works again by itself after an outage or a loss of data.
 *
 * @param prepare creates the streams and buckets that are missing.
 */
export async function createNatsSnapshotStore(
  connection: NatsConnection,
  prepare: () => Promise<void>,
): Promise<SnapshotStore> {
  const client = jetstream(connection, { timeout: CALL_TIMEOUT_MS });
  const manager = await client.jetstreamManager(false);
  // Reads go to the stream's leader, because a replica that answers a direct get may be behind.
  const pointers = await new Kvm(client).open(NAMES.configBucket, { allow_direct: false });
  const objects = await new Objm(client).open(NAMES.snapshotBucket, false);
  let connected = true;
  let losses = 0;
  const ready = new ReadyStreams();
  void watchStatus(connection, (isConnected) => {
    connected = isConnected;
    if (isConnected) return;
    losses += 1;
    ready.forget();
  });

  return {
    isConnected: () => connected && !connection.isClosed(),
    losses: () => losses,
    prepare,
    async readPointer(environment) {
      await ready.ensure(client, POINTER_STREAM, `$KV.${NAMES.configBucket}.${environment}`);
      const entry = await pointers.get(environment);
      if (entry === null) return { text: undefined, revision: 0 };
      const text = entry.operation === 'PUT' ? entry.string() : undefined;
      return { text, revision: entry.revision };
    },
    async hasObject(name) {
      const info = await objects.info(name);
      return info !== null && !info.deleted;
    },
    async putObject(name, bytes) {
      await objects.putBlob({ name }, bytes, { timeout: CALL_TIMEOUT_MS });
    },
    async putPointer(environment, text, expectedRevision) {
      const options = { previousSeq: expectedRevision, timeout: CALL_TIMEOUT_MS };
      return falseIfLost(pointers.put(environment, text, options));
    },
    async readTail(environment) {
      const query = { last_by_subj: configLogSubject(environment) };
      // `prepare` creates it last, so the object store exists when this stream does.
      await ready.ensure(client, NAMES.configLog, query.last_by_subj);
      const message = await manager.streams.getMessage(NAMES.configLog, query);
      return { bytes: message?.data, sequence: message?.seq ?? 0 };
    },
    appendEntry(environment, bytes, expectedSequence) {
      const expect = { lastSubjectSequence: expectedSequence };
      const options = { expect, timeout: CALL_TIMEOUT_MS };
      return falseIfLost(client.publish(configLogSubject(environment), bytes, options));
    },
    async trimLog(environment, keep) {
      await manager.streams.purge(NAMES.configLog, { filter: configLogSubject(environment), keep });
    },
    onSnapshotRequest(listener) {
      connection.subscribe(CONFIG_WANTED_SUBJECTS, {
        callback: (error, message) => {
          if (error === null) listener(environmentOfSubject(message.subject));
        },
      });
    },
    listObjects: () => listObjects(manager),
    async removeObject(name) {
      // The client's own delete would leave a marker for each version, for ever.
      const info = await objects.info(name);
      await manager.streams.purge(OBJECT_STREAM, { filter: META_SUBJECT + encodeName(name) });
      if (info === null) return;
      await manager.streams.purge(OBJECT_STREAM, { filter: CHUNK_SUBJECT + info.nuid });
    },
  };
}

/** False if another writer won the compare-and-set. */
async function falseIfLost(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof JetStreamApiError && LOST_RACE_CODES.has(error.code)) return false;
    throw error;
  }
}

/** One request for the subjects of the stream; the client's own list needs a consumer each time. */
async function listObjects(manager: JetStreamManager): Promise<readonly string[]> {
  const info: StreamInfo = await manager.streams.info(OBJECT_STREAM, {
    subjects_filter: `${META_SUBJECT}>`,
  });
  return Object.keys(info.state.subjects ?? {}).map((subject) =>
    Buffer.from(subject.slice(META_SUBJECT.length), 'base64url').toString('utf8'),
  );
}

/** Subjects contain names as base64url with padding (NATS ADR-20). */
function encodeName(name: string): string {
  const text = Buffer.from(name, 'utf8').toString('base64url');
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=');
}

async function watchStatus(
  connection: NatsConnection,
  changed: (isConnected: boolean) => void,
): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') changed(false);
    else if (status.type === 'reconnect') changed(true);
  }
}
