import path from 'node:path';
import { Registry } from 'prom-client';
import { systemClock } from '@gateway/shared/clock';
import { NAMES } from '@gateway/shared/messaging/names';
import { ensureTopology } from '@gateway/shared/messaging/topology';
import type { RequestRecord } from '@gateway/shared/records/record';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { linkNats } from '../src/nats/nats-link.ts';
import {
  createRecordStream,
  type RecordStream,
  type RecordStreamOptions,
} from '../src/records/record-stream.ts';
import { captureLog } from './captured-log.ts';
import type { OwnNats } from './own-nats.ts';
import { recordsOfBatch, requestRecord } from '@gateway/shared/test/request-record';

interface Stored {
  readonly seq: number;
  readonly id: string;
  readonly subject: string;
  readonly records: RequestRecord[];
}

/** Creates the record stream as a control plane does, and reads its content. */
export async function openRecordTarget(
  own: OwnNats,
  url: string,
  maxRecordStreamBytes = 256 * 1024 * 1024,
) {
  const connection = await own.connect(url);
  await ensureTopology(connection, { replicas: 1, maxRecordStreamBytes });
  const manager = await jetstreamManager(connection);
  return {
    manager,
    async batches(): Promise<Stored[]> {
      const { state } = await manager.streams.info(NAMES.recordStream);
      const found: Stored[] = [];
      for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
        const message = await manager.streams.getMessage(NAMES.recordStream, { seq });
        if (message === null) continue;
        const records = recordsOfBatch(message.string());
        const id = message.header.get('Nats-Msg-Id');
        found.push({ seq, records, id, subject: message.subject });
      }
      return found;
    },
    async ids(): Promise<string[]> {
      return (await this.batches()).flatMap(({ records }) => records.map(({ id }) => id));
    },
  };
}

export interface StartedRecordStream {
  readonly stream: RecordStream;
  /** Adds this many records and returns their ids. */
  readonly add: (count: number) => string[];
  readonly metric: (name: string) => Promise<number>;
}

export function startRecordStream(
  own: OwnNats,
  nats: Promise<NatsConnection>,
  bounds: Partial<RecordStreamOptions> = {},
): StartedRecordStream {
  const registry = new Registry();
  const { log } = captureLog();
  const stream = createRecordStream({
    link: linkNats(nats, log),
    dataPlaneId: 'dp-1',
    spoolDir: spoolDir(own),
    clock: systemClock,
    log,
    registry,
    random: Math.random,
    maxMemoryBytes: 32 * MIB,
    maxSpoolBytes: 1024 * MIB,
    ...bounds,
  });
  own.defer(() => stream.close(0));
  return {
    stream,
    add: (count) =>
      Array.from({ length: count }, () => {
        const record = requestRecord(Date.now());
        stream.add(record);
        return record.id;
      }),
    async metric(name) {
      const line = (await registry.metrics()).split('\n').find((one) => one.startsWith(`${name} `));
      return Number(line?.slice(name.length + 1) ?? 0);
    },
  };
}

const MIB = 1024 * 1024;

export function spoolDir(own: OwnNats): string {
  return path.join(own.folder, 'spool');
}
