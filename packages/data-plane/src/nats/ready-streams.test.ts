import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { ensureTopology } from '@gateway/shared/messaging/topology';
import { eventually } from '@gateway/shared/test/eventually';
import type { NatsConnection } from '@nats-io/nats-core';
import { linkNats } from './nats-link.ts';
import { captureLog } from '../../test/captured-log.ts';
import { openOwnNats, type OwnNats } from '../../test/own-nats.ts';
import { NatsIdempotencyStore } from '../idempotency/store/nats-store.ts';
import { KvQuotaLedger } from '../quota/ledger/kv-ledger.ts';

const READS = '$JS.API.STREAM.MSG.GET.>';

let nats: OwnNats;
beforeAll(async () => void (nats = await openOwnNats()));
afterAll(() => nats.close());

/** The subjects of all reads of streams, by any client. */
async function watchReads(connection: NatsConnection): Promise<readonly string[]> {
  const reads: string[] = [];
  connection.subscribe(READS, { callback: (_error, { subject }) => void reads.push(subject) });
  await connection.flush();
  return reads;
}

describe('reads of streams', () => {
  it('wait until the stream is ready: an old server crashes on a read of a stream that it is creating', async () => {
    const server = await nats.startServer();
    const connecting = nats.connect(server.url);
    const link = linkNats(connecting, captureLog().log);
    const connection = await connecting;
    await eventually(() => expect(link.connection).toBe(connection));
    const watcher = await nats.connect(server.url);
    const reads = await watchReads(watcher);
    const keys = new NatsIdempotencyStore(link, systemClock, () => 1);
    const quotas = new KvQuotaLedger(link, systemClock, () => 1);
    const key = { hash: 'a', windowMs: 1000 };
    await expect(keys.read('a')).rejects.toThrow();
    await expect(quotas.read(key)).rejects.toThrow();
    await watcher.flush();
    expect(reads).toEqual([]);
    await ensureTopology(connection, { replicas: 1, maxRecordStreamBytes: 1024 * 1024 });
    expect(await keys.read('a')).toEqual({ revision: 0, value: undefined });
    expect(await quotas.read(key)).toEqual({ revision: 0, entry: undefined });
    await eventually(() => expect(reads.length).toBe(2));

    await server.stop();
    await nats.startServer({ data: 'another', port: server.port });
    await eventually(async () => {
      await expect(keys.read('a')).rejects.not.toThrow('NATS is away');
      await watcher.flush();
      await expect(quotas.read(key)).rejects.not.toThrow('NATS is away');
      await watcher.flush();
    });
    expect(reads).toHaveLength(2);
  });
});
