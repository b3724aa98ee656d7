import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { Registry } from 'prom-client';
import { systemClock } from '@gateway/shared/clock';
import { NAMES, recordSubject } from '@gateway/shared/messaging/names';
import { requestRecordSchema, type RequestRecord } from '@gateway/shared/records/record';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/test/eventually';
import { startNats } from '@gateway/local-stack/nats/start-nats';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { requestView } from '../request-record.ts';
import { openDatabase, type Database } from '../../store/database.ts';
import { findRecord } from '../store/records.ts';
import { openTestNats, type TestNats } from '../../../test/nats.ts';
import { recordBatchText, requestRecord } from '@gateway/shared/test/request-record';
import { openTestStore, type TestStore } from '../../../test/store.ts';
import { measureSequences } from './watch-sequences.ts';
import { createIngestMetrics } from './ingest-metrics.ts';
import { startRecordIngest, type RecordIngest } from './record-ingest.ts';

type Server = Awaited<ReturnType<typeof startNats>>;

const log = createLogger('test', process.env['TEST_LOG'] ?? 'silent');

// All readers of the stream share the consumer, so each test has its own NATS server.
let folder: string;
let server: Server;
let nats: TestNats;
let store: TestStore;
let registry: Registry;
const ingests: RecordIngest[] = [];
/** Messages of a stopped ingest are delivered again. */
const REDELIVERED_MS = 20_000;
/** The token uses that the ingest recorded. */
const uses = new Map<string, number>();

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'gateway-ingest-'));
  server = await startServer('first');
  nats = await openTestNats(server.url);
  store = await openTestStore();
  registry = new Registry();
});
afterEach(async () => {
  await Promise.all(ingests.splice(0).map((ingest) => ingest.stop()));
  await nats.close();
  await server.stop();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

function startServer(data: string, port?: number): Promise<Server> {
  const dataDir = path.join(folder, data);
  return startNats({ dataDir, log: () => undefined, ...(port === undefined ? {} : { port }) });
}

function startIngest(db: Database = store.db, ackWaitMs = 3000): RecordIngest {
  const { connection } = nats;
  const prepare = () => nats.prepare({ recordAckWaitMs: ackWaitMs });
  const metrics = createIngestMetrics(registry);
  const tokenUses = { note: (id: string, atMs: number) => void uses.set(id, atMs) };
  const ingest = startRecordIngest({
    db,
    connection,
    prepare,
    ackWaitMs,
    documents: 'named',
    clock: systemClock,
    log,
    metrics,
    tokenUses,
  });
  ingests.push(ingest);
  return ingest;
}

async function publish(
  message: string | readonly RequestRecord[],
  more: readonly unknown[] = [],
): Promise<void> {
  const text = typeof message === 'string' ? message : recordBatchText(message, more);
  // A put while disconnected blocks for its whole timeout.
  await jetstream(nats.connection, { timeout: 2000 }).publish(recordSubject('data-plane-1'), text);
}

function records(count: number, changes: Partial<RequestRecord> = {}): readonly RequestRecord[] {
  return Array.from({ length: count }, () => requestRecord(Date.now(), changes));
}

async function storedCount(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM request_records
  `.execute(store.db);
  return rows[0]?.count ?? 0;
}

/** Messages that are not acknowledged: in the stream, or delivered and open. */
async function waitingMessages(): Promise<number> {
  const manager = await jetstreamManager(nats.connection);
  return (await manager.streams.info(NAMES.recordStream)).state.messages;
}

async function metric(name: string): Promise<number> {
  const found = await registry.getSingleMetric(`gateway_control_plane_ingest_${name}_total`)?.get();
  return found?.values[0]?.value ?? 0;
}

describe('the record ingest', () => {
  it('stores every record unchanged, and empties the stream', async () => {
    startIngest();
    const sent = records(120);
    await publish(sent.slice(0, 50));
    await publish(sent.slice(50));
    await eventually(async () => expect(await storedCount()).toBe(120));
    for (const record of sent.slice(48, 52)) {
      const { id, received_at_ms: receivedAtMs } = record;
      const row = await findRecord(store.db, id, receivedAtMs);
      const shown = row === undefined ? {} : requestView(row);
      const whole = { ...shown, received_at_ms: row?.receivedAtMs };
      expect(requestRecordSchema.parse(whole)).toEqual(record);
    }
    await eventually(async () => expect(await waitingMessages()).toBe(0));
    expect(await metric('records')).toBe(120);
  });

  it('stores a batch that is delivered twice once', async () => {
    startIngest();
    const sent = records(10);
    await publish(sent);
    await publish(sent);
    await publish([...sent, ...records(1)]);
    await eventually(async () => expect(await waitingMessages()).toBe(0));
    expect(await storedCount()).toBe(11);
    expect(await metric('duplicates')).toBe(20);
  });

  it('skips malformed messages and records, and stores all others', async () => {
    startIngest();
    const good = records(1);
    await publish('{');
    await publish('"text"');
    await publish(good, [{ id: 'req_1' }, null]);
    await publish(records(1, { path: '/v1/proxy/a\0b', client_request_id: '\ud800' }));
    await publish([...records(2), ...records(1, { status: 2 ** 40 })]);
    await eventually(async () => expect(await waitingMessages()).toBe(0));
    expect(await storedCount()).toBe(4);
    expect(await metric('poison')).toBe(5);
  });

  it('acknowledges nothing while Postgres is unavailable, and stores all records afterwards', async () => {
    const away = openDatabase({ url: 'postgres://127.0.0.1:1/none', log });
    const ingest = startIngest(away.db);
    await publish(records(5));
    await publish(records(5), [null]);
    await eventually(async () => expect(await metric('failures')).toBeGreaterThan(2));
    expect(await waitingMessages()).toBe(2);
    expect(await metric('poison')).toBe(0);
    await ingest.stop();
    await away.close();
    registry = new Registry();
    startIngest();
    await eventually(async () => expect(await storedCount()).toBe(10), {
      deadlineMs: REDELIVERED_MS,
    });
    await eventually(async () => expect(await waitingMessages()).toBe(0));
    expect(await metric('poison')).toBe(1);
  });

  it('continues after a restart of NATS', async () => {
    startIngest();
    await publish(records(1));
    await eventually(async () => expect(await storedCount()).toBe(1));
    await server.stop();
    server = await startServer('first', server.port);
    // An attempt that failed may have been stored. The records of a second one are the same.
    const next = records(1);
    await eventually(() => publish(next));
    await eventually(async () => expect(await storedCount()).toBe(2));
  });

  it('continues after NATS came back without its data', async () => {
    startIngest();
    await publish(records(1));
    await eventually(async () => expect(await storedCount()).toBe(1));
    await server.stop();
    server = await startServer('second', server.port);
    const next = records(1);
    await eventually(() => publish(next));
    await eventually(async () => expect(await storedCount()).toBe(2));
  });

  it('creates its consumer again if it was deleted', async () => {
    startIngest();
    await publish(records(1));
    await eventually(async () => expect(await storedCount()).toBe(1));
    const manager = await jetstreamManager(nats.connection);
    await manager.consumers.delete(NAMES.recordStream, NAMES.recordConsumer);
    await publish(records(1));
    await eventually(async () => expect(await storedCount()).toBe(2));
  });

  it('does not get a message again, however long Postgres takes to store it', async () => {
    let worked = 0;
    const ackSubjects = `$JS.ACK.${NAMES.recordStream}.>`;
    nats.connection.subscribe(ackSubjects, {
      callback: (_error, message) => void (worked += message.string() === '+WPI' ? 1 : 0),
    });
    startIngest(store.db, 1000);
    await store.db.transaction().execute(async (locking) => {
      await sql`LOCK TABLE request_records IN ACCESS EXCLUSIVE MODE`.execute(locking);
      await publish(records(3));
      // More often than fits into the time after which the message is delivered again.
      await eventually(() => expect(worked).toBeGreaterThan(4), { deadlineMs: 15_000 });
    });
    await eventually(async () => expect(await waitingMessages()).toBe(0));
    expect(await storedCount()).toBe(3);
    expect(await metric('redelivered')).toBe(0);
  });

  it('gets what NATS had on the way when it stopped, within five seconds of its return', async () => {
    const ingest = startIngest();
    await publish(records(1));
    await eventually(async () => expect(await storedCount()).toBe(1));
    await ingest.stop();
    // Delivered, and lost on the way: nobody acknowledges it.
    const lost = await jetstream(nats.connection).consumers.get(
      NAMES.recordStream,
      NAMES.recordConsumer,
    );
    await publish(records(1));
    await lost.next({ expires: 2000 });
    const { port } = new URL(server.url);
    await server.stop();
    server = await startServer('first', Number(port));
    await eventually(() => nats.connection.rtt());
    registry = new Registry();
    startIngest();
    await eventually(async () => expect(await storedCount()).toBe(2), { deadlineMs: 5000 });
  });

  it('shares the work with other control planes, without duplicates', async () => {
    startIngest();
    registry = new Registry();
    startIngest();
    await Promise.all(Array.from({ length: 40 }, () => publish(records(25))));
    await eventually(async () => expect(await waitingMessages()).toBe(0));
    expect(await storedCount()).toBe(1000);
  });

  it('stores the received records when it stops', async () => {
    const ingest = startIngest();
    await Promise.all(Array.from({ length: 20 }, () => publish(records(10))));
    await eventually(async () => expect(await storedCount()).toBeGreaterThan(0));
    await ingest.stop();
    const stored = await storedCount();
    await eventually(async () => expect(await waitingMessages()).toBe(20 - stored / 10));
  });
});

describe('batches that did not arrive', () => {
  const place = (sequence: number) => ({ process: 'req_1', sequence });
  const publishAt = (sequence: number) => publish(recordBatchText(records(1), [], place(sequence)));

  it('are counted, whichever control plane took the others, until they arrive', async () => {
    startIngest();
    const metrics = createIngestMetrics(new Registry());
    registry = new Registry();
    startIngest();
    for (const sequence of [1, 2, 5, 4, 9]) await publishAt(sequence);
    await publish(records(1));
    await eventually(async () => expect(await storedCount()).toBe(6));
    const missing = async () => {
      await measureSequences({ db: store.db, clock: systemClock, log, metrics });
      return (await metrics.missing.get()).values[0]?.value;
    };
    expect(await missing()).toBe(4);
    await publishAt(3);
    await publishAt(3);
    await eventually(async () => expect(await storedCount()).toBe(8));
    expect(await missing()).toBe(3);
  });
});

describe('a backlog of many batches', () => {
  // `npm run bench -- ingest` measures how fast.
  it('is stored completely, each record once', async () => {
    const batches = 40;
    for (let batch = 0; batch < batches; batch += 1) await publish(records(500));
    startIngest();
    await eventually(async () => expect(await waitingMessages()).toBe(0), { deadlineMs: 50_000 });
    expect(await storedCount()).toBe(batches * 500);
  });
});
