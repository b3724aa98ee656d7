import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startNats } from '@gateway/local-stack/nats';
import type { Server } from '@gateway/local-stack/server';
import { Registry } from 'prom-client';
import { systemClock } from '@gateway/shared/clock';
import { connectNats } from '@gateway/shared/messaging/connection';
import { NAMES, recordSubject } from '@gateway/shared/messaging/names';
import { ensureTopology } from '@gateway/shared/messaging/topology';
import { recordBatchSchema, type RequestRecord } from '@gateway/shared/records/record';
import { eventually } from '@gateway/shared/testing/eventually';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import {
  createRecordStream,
  type RecordStream,
  type RecordStreamOptions,
} from './record-stream.ts';
import { captureLog } from './testing/captured-log.ts';
import { newRecord } from './testing/request-record.ts';

const slow = { deadlineMs: 20_000 };
let folder: string;
let servers: Server[];
/** In the order of acquisition; the servers go last, as they do where the product is stopped. */
let undo: (() => Promise<unknown>)[];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'record-stream-'));
  servers = [];
  undo = [];
});

afterEach(async () => {
  for (const step of undo.toReversed()) await step();
  await Promise.all(servers.map((server) => server.stop()));
  await rm(folder, { recursive: true });
});

/** A server of this test's own: others on a shared one would take the records away. */
async function startServer(port?: number, data = 'nats'): Promise<Server> {
  const options = { dataDir: path.join(folder, data), log: () => undefined };
  const server = await startNats(port === undefined ? options : { ...options, port });
  servers.push(server);
  return server;
}

function connect(url: string): Promise<NatsConnection> {
  const abort = new AbortController();
  const { log } = captureLog();
  const options = { url, name: 'test', log, clock: systemClock, signal: abort.signal };
  const pending = connectNats(options);
  undo.push(async () => {
    abort.abort();
    await pending.then(
      (connection) => connection.close(),
      () => undefined,
    );
  });
  return pending;
}

interface Stored {
  readonly seq: number;
  readonly id: string;
  readonly subject: string;
  readonly records: RequestRecord[];
}

/** What the control plane makes, and a look into it. */
async function openStream(url: string, maxRecordStreamBytes = 256 * 1024 * 1024) {
  const connection = await connect(url);
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
        const records = recordBatchSchema.parse(message.json());
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

interface Started {
  readonly stream: RecordStream;
  /** Adds as many records, and gives their ids. */
  readonly add: (count: number) => string[];
  readonly metric: (name: string) => Promise<number>;
}

function start(nats: Promise<NatsConnection>, bounds: Partial<RecordStreamOptions> = {}): Started {
  const registry = new Registry();
  const stream = createRecordStream({
    nats,
    dataPlaneId: 'dp-1',
    spoolDir: path.join(folder, 'spool'),
    clock: systemClock,
    log: captureLog().log,
    registry,
    ...bounds,
  });
  undo.push(() => stream.close(0));
  return {
    stream,
    add: (count) =>
      Array.from({ length: count }, () => {
        const record = newRecord();
        stream.add(record);
        return record.id;
      }),
    async metric(name) {
      const line = (await registry.metrics()).split('\n').find((one) => one.startsWith(`${name} `));
      return Number(line?.slice(name.length + 1) ?? 0);
    },
  };
}

const sorted = (ids: readonly string[]) => ids.toSorted();

/** Small enough that a few batches of a hundred records pass them. */
const small = { maxMemoryBytes: 300_000, segmentBytes: 200_000 };

describe('the stream of records', () => {
  it('brings every record to NATS, in whole batches under ids of their own', async () => {
    const server = await startServer();
    const target = await openStream(server.url);
    const { add, metric } = start(connect(server.url));
    const ids = add(1234);
    await eventually(async () => expect(await metric('gateway_records_sent_total')).toBe(1234));
    expect(sorted(await target.ids())).toEqual(sorted(ids));
    const batches = await target.batches();
    expect(batches.map(({ records }) => records.length)).toEqual([500, 500, 234]);
    expect(new Set(batches.map(({ id }) => id)).size).toBe(3);
    expect(batches[0]?.subject).toBe(recordSubject('dp-1'));
    expect(await metric('gateway_records_pending')).toBe(0);
    expect(await metric('gateway_record_publish_seconds_count')).toBe(3);
  });

  it('keeps what comes while NATS is away at the start, and sends it once NATS is there', async () => {
    const server = await startServer();
    await openStream(server.url);
    await server.stop();
    const { add, metric } = start(connect(server.url));
    const ids = add(700);
    expect(await metric('gateway_records_pending')).toBe(700);
    await startServer(server.port);
    await eventually(
      async () => expect(await metric('gateway_records_sent_total')).toBe(700),
      slow,
    );
    const target = await openStream(server.url);
    expect(sorted(await target.ids())).toEqual(sorted(ids));
  });

  it('loses none of the records that come while the server restarts', async () => {
    const server = await startServer();
    await openStream(server.url);
    const { add, metric } = start(connect(server.url));
    const ids: string[] = [];
    const beat = setInterval(() => ids.push(...add(50)), 5);
    try {
      await eventually(async () =>
        expect(await metric('gateway_records_sent_total')).toBeGreaterThan(500),
      );
      await server.stop();
      await startServer(server.port);
      const before = await metric('gateway_records_sent_total');
      await eventually(
        async () => expect(await metric('gateway_records_sent_total')).toBeGreaterThan(before),
        slow,
      );
    } finally {
      clearInterval(beat);
    }
    await eventually(
      async () => expect(await metric('gateway_records_sent_total')).toBe(ids.length),
      slow,
    );
    const target = await openStream(server.url);
    // Some may be there twice; the ingest knows them by their id.
    expect(sorted([...new Set(await target.ids())])).toEqual(sorted(ids));
    expect(await metric('gateway_records_pending')).toBe(0);
  });

  it('keeps records while the stream is missing, and sends them when it was made anew', async () => {
    const server = await startServer();
    const { add, metric } = start(connect(server.url));
    const ids = add(10);
    await eventually(async () =>
      expect(await metric('gateway_record_publish_failures_total')).toBeGreaterThan(1),
    );
    const target = await openStream(server.url);
    await eventually(async () => expect(await metric('gateway_records_sent_total')).toBe(10));
    expect(sorted(await target.ids())).toEqual(sorted(ids));
  });

  it('keeps records while the stream is full, and sends them when there is room', async () => {
    const server = await startServer();
    const target = await openStream(server.url, 500_000);
    const { add, metric } = start(connect(server.url), small);
    const ids = new Set(add(2000));
    await eventually(async () =>
      expect(await metric('gateway_record_publish_failures_total')).toBeGreaterThan(0),
    );
    const arrived = new Set<string>();
    await eventually(async () => {
      for (const { seq, records } of await target.batches()) {
        for (const { id } of records) arrived.add(id);
        await target.manager.streams.deleteMessage(NAMES.recordStream, seq);
      }
      expect(arrived.size).toBe(ids.size);
    }, slow);
    expect(arrived).toEqual(ids);
    await eventually(async () => expect(await metric('gateway_records_sent_total')).toBe(2000));
    expect(await metric('gateway_records_spooled_bytes')).toBe(0);
  });

  it('writes to disk what the memory does not hold, and sends that too', async () => {
    const server = await startServer();
    await openStream(server.url);
    await server.stop();
    const { add, metric } = start(connect(server.url), small);
    const ids = Array.from({ length: 20 }, () => add(100)).flat();
    await eventually(async () =>
      expect(await metric('gateway_records_spooled_bytes')).toBeGreaterThan(500_000),
    );
    expect((await readdir(path.join(folder, 'spool'))).length).toBeGreaterThan(1);
    await startServer(server.port);
    await eventually(
      async () => expect(await metric('gateway_records_sent_total')).toBe(2000),
      slow,
    );
    const target = await openStream(server.url);
    expect(sorted(await target.ids())).toEqual(sorted(ids));
    await eventually(async () => expect(await metric('gateway_records_spooled_bytes')).toBe(0));
    expect(await readdir(path.join(folder, 'spool'))).toEqual([]);
  });

  it('past all bounds drops the newest, and counts each one', async () => {
    const server = await startServer();
    await openStream(server.url);
    await server.stop();
    const { add, metric } = start(connect(server.url), { ...small, maxSpoolBytes: 400_000 });
    const ids = add(3000);
    await eventually(async () => {
      expect(await metric('gateway_records_dropped_total{reason="spool_full"}')).toBeGreaterThan(0);
      expect(await metric('gateway_records_pending')).toBeLessThan(1000);
    });
    const dropped = await metric('gateway_records_dropped_total{reason="spool_full"}');
    expect(await metric('gateway_records_spooled_bytes')).toBeLessThanOrEqual(400_000);
    await startServer(server.port);
    const kept = ids.slice(0, ids.length - dropped);
    await eventually(
      async () => expect(await metric('gateway_records_sent_total')).toBe(kept.length),
      slow,
    );
    const target = await openStream(server.url);
    expect(sorted(await target.ids())).toEqual(sorted(kept));
  });

  it('has sent everything when it is closed, without waiting for a batch to fill', async () => {
    const server = await startServer();
    const target = await openStream(server.url);
    const { stream, add, metric } = start(connect(server.url));
    await eventually(async () => {
      add(1);
      expect(await metric('gateway_records_sent_total')).toBeGreaterThan(0);
    });
    const before = await metric('gateway_records_sent_total');
    const pending = await metric('gateway_records_pending');
    add(7);
    await stream.close(10_000);
    expect(await target.ids()).toHaveLength(before + pending + 7);
    expect(await metric('gateway_records_spooled_bytes')).toBe(0);
    add(2);
    expect(await metric('gateway_records_dropped_total{reason="closed"}')).toBe(2);
  });

  it('closed while NATS is away, leaves everything on disk, which the next process sends', async () => {
    const server = await startServer();
    await openStream(server.url);
    await server.stop();
    const first = start(connect(server.url));
    const ids = first.add(1100);
    await first.stream.close(10_000);
    expect(await first.metric('gateway_records_pending')).toBe(0);
    expect(await first.metric('gateway_records_spooled_bytes')).toBeGreaterThan(0);
    await startServer(server.port);
    const second = start(connect(server.url));
    await eventually(
      async () => expect(await second.metric('gateway_records_sent_total')).toBe(1100),
      slow,
    );
    const target = await openStream(server.url);
    expect(sorted(await target.ids())).toEqual(sorted(ids));
    await eventually(async () =>
      expect(await second.metric('gateway_records_spooled_bytes')).toBe(0),
    );
  });

  it('closed while NATS does not store, gives up waiting at its deadline and keeps it all', async () => {
    const server = await startServer();
    const first = start(connect(server.url));
    const ids = first.add(30);
    await eventually(async () =>
      expect(await first.metric('gateway_record_publish_failures_total')).toBeGreaterThan(0),
    );
    await first.stream.close(200);
    expect(await first.metric('gateway_records_pending')).toBe(0);
    const target = await openStream(server.url);
    start(connect(server.url));
    await eventually(async () => expect(sorted(await target.ids())).toEqual(sorted(ids)), slow);
  });
});
