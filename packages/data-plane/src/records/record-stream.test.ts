import { cp } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { NAMES, recordSubject } from '@gateway/shared/messaging/names';
import { eventually } from '@gateway/shared/test/eventually';
import { openOwnNats, type OwnNats } from '../../test/own-nats.ts';
import { openRecordTarget, startRecordStream } from '../../test/record-target.ts';

const slow = { deadlineMs: 20_000 };
const sorted = (ids: readonly string[]) => ids.toSorted();
let own: OwnNats;

beforeEach(async () => {
  own = await openOwnNats();
});

afterEach(() => own.close());

describe('the record stream', () => {
  it('sends every record to NATS, in complete batches with unique ids', async () => {
    const server = await own.startServer();
    const target = await openRecordTarget(own, server.url);
    const { add, metric } = startRecordStream(own, own.connect(server.url));
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

  it('keeps records while NATS is down at the start, and sends them later', async () => {
    const server = await own.startServer();
    await openRecordTarget(own, server.url);
    await server.stop();
    const { add, metric } = startRecordStream(own, own.connect(server.url));
    const ids = add(700);
    expect(await metric('gateway_records_pending')).toBe(700);
    await own.startServer({ port: server.port });
    await eventually(
      async () => expect(await metric('gateway_records_sent_total')).toBe(700),
      slow,
    );
    const target = await openRecordTarget(own, server.url);
    expect(sorted(await target.ids())).toEqual(sorted(ids));
  });

  it('loses no record while the server restarts', async () => {
    const server = await own.startServer();
    await openRecordTarget(own, server.url);
    const { add, metric } = startRecordStream(own, own.connect(server.url));
    const ids: string[] = [];
    const beat = setInterval(() => ids.push(...add(50)), 5);
    try {
      await eventually(async () =>
        expect(await metric('gateway_records_sent_total')).toBeGreaterThan(500),
      );
      await server.stop();
      await own.startServer({ port: server.port });
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
    const target = await openRecordTarget(own, server.url);
    // Some may be stored twice; the ingest recognizes them by their id.
    expect(sorted([...new Set(await target.ids())])).toEqual(sorted(ids));
    expect(await metric('gateway_records_pending')).toBe(0);
  });

  it('sends the last records again when NATS returns without its data', async () => {
    const server = await own.startServer();
    const target = await openRecordTarget(own, server.url);
    const { add, metric } = startRecordStream(own, own.connect(server.url));
    const ids = add(700);
    await eventually(async () => expect(await metric('gateway_records_sent_total')).toBe(700));
    expect(sorted(await target.ids())).toEqual(sorted(ids));
    await server.stop();
    await own.startServer({ port: server.port, data: 'empty' });
    const emptied = await openRecordTarget(own, server.url);
    await eventually(async () => expect(sorted(await emptied.ids())).toEqual(sorted(ids)), slow);
    await eventually(async () => expect(await metric('gateway_records_pending')).toBe(0));
    expect(await metric('gateway_records_sent_total')).toBe(700);
    expect(await metric('gateway_records_sent_again_total')).toBe(700);
  });

  it('sends nothing again if NATS was killed and returns with its data', async () => {
    let server = await own.startServer();
    await openRecordTarget(own, server.url);
    const { add, metric } = startRecordStream(own, own.connect(server.url));
    const sent = async (count: number) =>
      eventually(async () => expect(await metric('gateway_records_sent_total')).toBe(count), slow);
    add(700);
    await sent(700);
    for (let kill = 1; kill <= 3; kill += 1) {
      await server.process.stop('SIGKILL');
      add(10);
      server = await own.startServer({ port: server.port });
      // As a control plane does after every reconnect.
      await openRecordTarget(own, server.url);
      await sent(700 + 10 * kill);
    }
    expect(await metric('gateway_records_sent_again_total')).toBe(0);
    const bytes = 512 * 1024 * 1024;
    const { manager } = await openRecordTarget(own, server.url, bytes);
    expect((await manager.streams.info(NAMES.recordStream)).config.max_bytes).toBe(bytes);
  });

  it('sends the last records again when NATS returns with an older state', async () => {
    const server = await own.startServer();
    await openRecordTarget(own, server.url);
    const { add, metric } = startRecordStream(own, own.connect(server.url));
    const sent = async (count: number) =>
      eventually(async () => expect(await metric('gateway_records_sent_total')).toBe(count), slow);
    const ids = add(10);
    await sent(10);
    await server.stop();
    await cp(path.join(own.folder, 'nats'), path.join(own.folder, 'older'), { recursive: true });
    const again = await own.startServer({ port: server.port });
    ids.push(...add(20));
    await sent(30);
    await again.stop();
    await own.startServer({ port: server.port, data: 'older' });
    const target = await openRecordTarget(own, server.url);
    await eventually(
      async () => expect(sorted([...new Set(await target.ids())])).toEqual(sorted(ids)),
      slow,
    );
    expect(await metric('gateway_records_sent_again_total')).toBeGreaterThanOrEqual(20);
  });

  it('keeps records while the stream is missing, and sends them when it was created again', async () => {
    const server = await own.startServer();
    const { add, metric } = startRecordStream(own, own.connect(server.url));
    const ids = add(10);
    await eventually(async () =>
      expect(await metric('gateway_record_publish_failures_total')).toBeGreaterThan(1),
    );
    const target = await openRecordTarget(own, server.url);
    await eventually(async () => expect(await metric('gateway_records_sent_total')).toBe(10));
    expect(sorted(await target.ids())).toEqual(sorted(ids));
  });

  it('sends everything when it is closed, without waiting for a full batch', async () => {
    const server = await own.startServer();
    const target = await openRecordTarget(own, server.url);
    const { stream, add, metric } = startRecordStream(own, own.connect(server.url));
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
});
