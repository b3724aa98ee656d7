import { readdir } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { NAMES } from '@gateway/shared/messaging/names';
import { eventually } from '@gateway/shared/test/eventually';
import { openOwnNats, type OwnNats } from '../../test/own-nats.ts';
import { openRecordTarget, spoolDir, startRecordStream } from '../../test/record-target.ts';

const slow = { deadlineMs: 20_000 };
const sorted = (ids: readonly string[]) => ids.toSorted();
let own: OwnNats;

beforeEach(async () => {
  own = await openOwnNats();
});

afterEach(() => own.close());

/** Small enough that a few batches of a hundred records exceed them. */
const small = { maxMemoryBytes: 300_000, segmentBytes: 200_000 };

describe('the record stream while NATS does not accept records', () => {
  it('keeps records while the stream is full, and sends them when there is room', async () => {
    const server = await own.startServer();
    const target = await openRecordTarget(own, server.url, 500_000);
    const { add, metric } = startRecordStream(own, own.connect(server.url), small);
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
    // A file is removed after its last batch was acknowledged.
    await eventually(async () => expect(await metric('gateway_records_spooled_bytes')).toBe(0));
  });

  it('writes records that exceed the memory to disk, and sends them later', async () => {
    const server = await own.startServer();
    await openRecordTarget(own, server.url);
    await server.stop();
    const { add, metric } = startRecordStream(own, own.connect(server.url), small);
    const ids = Array.from({ length: 20 }, () => add(200)).flat();
    await eventually(async () =>
      expect(await metric('gateway_records_spooled_bytes')).toBeGreaterThan(500_000),
    );
    expect((await readdir(spoolDir(own))).length).toBeGreaterThan(1);
    await own.startServer({ port: server.port });
    await eventually(
      async () => expect(await metric('gateway_records_sent_total')).toBe(4000),
      slow,
    );
    const target = await openRecordTarget(own, server.url);
    expect(sorted(await target.ids())).toEqual(sorted(ids));
    await eventually(async () => expect(await metric('gateway_records_spooled_bytes')).toBe(0));
    expect(await readdir(spoolDir(own))).toEqual([]);
  });

  it('drops new records above all limits, and counts each one', async () => {
    const server = await own.startServer();
    await openRecordTarget(own, server.url);
    await server.stop();
    const { add, metric } = startRecordStream(own, own.connect(server.url), {
      ...small,
      maxSpoolBytes: 400_000,
    });
    const ids = add(3000);
    await eventually(async () => {
      expect(await metric('gateway_records_dropped_total{reason="spool_full"}')).toBeGreaterThan(0);
      expect(await metric('gateway_records_pending')).toBeLessThan(1000);
    });
    expect(await metric('gateway_records_spooled_bytes')).toBeLessThanOrEqual(400_000);
    await own.startServer({ port: server.port });
    // Some may have been dropped after the first ones: the number is final when the others are sent.
    const dropped = await eventually(async () => {
      const count = await metric('gateway_records_dropped_total{reason="spool_full"}');
      expect((await metric('gateway_records_sent_total')) + count).toBe(ids.length);
      return count;
    }, slow);
    const kept = ids.slice(0, ids.length - dropped);
    const target = await openRecordTarget(own, server.url);
    expect(sorted(await target.ids())).toEqual(sorted(kept));
  });

  it('writes everything to disk if it is closed while NATS is down, and the next process sends it', async () => {
    const server = await own.startServer();
    await openRecordTarget(own, server.url);
    await server.stop();
    const first = startRecordStream(own, own.connect(server.url));
    const ids = first.add(1100);
    await first.stream.close(10_000);
    expect(await first.metric('gateway_records_pending')).toBe(0);
    expect(await first.metric('gateway_records_spooled_bytes')).toBeGreaterThan(0);
    await own.startServer({ port: server.port });
    const second = startRecordStream(own, own.connect(server.url));
    await eventually(
      async () => expect(await second.metric('gateway_records_sent_total')).toBe(1100),
      slow,
    );
    const target = await openRecordTarget(own, server.url);
    expect(sorted(await target.ids())).toEqual(sorted(ids));
    await eventually(async () =>
      expect(await second.metric('gateway_records_spooled_bytes')).toBe(0),
    );
  });

  it('stops waiting at its deadline if it is closed while NATS does not answer, and keeps everything', async () => {
    const server = await own.startServer();
    const first = startRecordStream(own, own.connect(server.url));
    const ids = first.add(30);
    await eventually(async () =>
      expect(await first.metric('gateway_record_publish_failures_total')).toBeGreaterThan(0),
    );
    await first.stream.close(200);
    expect(await first.metric('gateway_records_pending')).toBe(0);
    const target = await openRecordTarget(own, server.url);
    startRecordStream(own, own.connect(server.url));
    await eventually(async () => expect(sorted(await target.ids())).toEqual(sorted(ids)), slow);
  });
});
