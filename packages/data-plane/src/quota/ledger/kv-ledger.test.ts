import { systemClock } from '@gateway/shared/clock';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Server } from '@gateway/local-stack/process/managed-process';
import { NAMES, quotaSubject } from '@gateway/shared/messaging/names';
import { ensureTopology } from '@gateway/shared/messaging/topology';
import { freeze, thaw } from '@gateway/shared/test/freeze';
import { jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/nats-core';
import { whenUp } from '../../nats/await-link.ts';
import { linkNats } from '../../nats/nats-link.ts';
import { captureLog } from '../../../test/captured-log.ts';
import { openOwnNats, type OwnNats } from '../../../test/own-nats.ts';
import { KvQuotaLedger } from './kv-ledger.ts';
import { UnusableEntryError, type LedgerEntry, type LedgerKey } from './ledger.ts';

const TOPOLOGY = { replicas: 1, maxRecordStreamBytes: 16 * 1024 * 1024 };
const key: LedgerKey = { hash: 'a'.repeat(64), windowMs: 60_000 };
const entry: LedgerEntry = {
  window: 7,
  window_ms: 60_000,
  granted: 3,
  lease: 'first',
  reserves: { 4: { requests: 12, writes: 1 } },
};

let nats: OwnNats;
let server: Server;
let connection: NatsConnection;
let ledger: KvQuotaLedger;

beforeEach(async () => {
  nats = await openOwnNats();
  server = await nats.startServer();
  connection = await nats.connect(server.url);
  const link = linkNats(Promise.resolve(connection), captureLog().log);
  ledger = new KvQuotaLedger(link, systemClock, () => 1);
  await whenUp(link, new AbortController().signal);
});
afterEach(() => nats.close());

async function written(granted: number, revision: number): Promise<number> {
  const result = await ledger.write(key, { ...entry, granted }, revision);
  if (result.kind !== 'written') throw new Error(`the write was answered by ${result.kind}`);
  return result.revision;
}

describe('the ledger of quotas in NATS', () => {
  it('stores an entry over the named revision only', async () => {
    await ensureTopology(connection, TOPOLOGY);
    expect(await ledger.read(key)).toEqual({ entry: undefined, revision: 0 });
    const first = await written(3, 0);
    expect(await ledger.read(key)).toEqual({ entry, revision: first });
    expect(await ledger.write(key, entry, 0)).toEqual({ kind: 'conflict' });
    const second = await written(5, first);
    expect(await ledger.write(key, entry, first)).toEqual({ kind: 'conflict' });
    expect(await ledger.read(key)).toEqual({ entry: { ...entry, granted: 5 }, revision: second });
  });

  it('stores long and short windows in buckets of their own, each kept for its window', async () => {
    await ensureTopology(connection, TOPOLOGY);
    await ledger.write({ ...key, windowMs: 86_400_000 }, { ...entry, window_ms: 86_400_000 }, 0);
    expect((await ledger.read(key)).entry).toBeUndefined();
    const { streams } = await jetstreamManager(connection);
    const ageMs = async (bucket: string) =>
      (await streams.info(`KV_${bucket}`)).config.max_age / 1_000_000;
    expect(await ageMs(NAMES.quotaBucket)).toBeGreaterThanOrEqual(86_400_000);
    expect(await ageMs(NAMES.shortQuotaBucket)).toBeGreaterThanOrEqual(600_000);
  });

  it('gives buckets of a former release the size that is set, and keeps what they have', async () => {
    await ensureTopology(connection, TOPOLOGY);
    const first = await written(3, 0);
    const { streams } = await jetstreamManager(connection);
    const name = `KV_${NAMES.shortQuotaBucket}`;
    const { config } = await streams.info(name);
    await streams.update(name, { ...config, max_age: 2 * config.max_age });
    await ensureTopology(connection, { ...TOPOLOGY, maxQuotaBytes: 2 * 1024 * 1024 });
    const changed = (await streams.info(name)).config;
    expect([changed.max_bytes, changed.max_age]).toEqual([2 * 1024 * 1024, config.max_age]);
    expect((await ledger.read(key)).revision).toBe(first);
  });

  it('starts from zero after an operator deleted a key', async () => {
    await ensureTopology(connection, TOPOLOGY);
    await written(3, 0);
    await (await new Kvm(connection).open(NAMES.shortQuotaBucket)).delete(key.hash);
    const { entry: left, revision } = await ledger.read(key);
    expect(left).toBeUndefined();
    expect(await written(1, revision)).toBeGreaterThan(revision);
  });

  it.each([
    'no JSON',
    '{"format":1,"window":1}',
    '{"format":1,"window":-1,"window_ms":1,"granted":0,"lease":"x"}',
    '{"format":2,"window":1,"window_ms":1,"granted":0,"lease":"x"}',
    '{"window":1,"window_ms":1,"granted":0,"lease":"x"}',
  ])(
    'treats a malformed entry, or one of another format, as unusable rather than empty: %s',
    async (text) => {
      await ensureTopology(connection, TOPOLOGY);
      connection.publish(quotaSubject(key.windowMs, key.hash), text);
      await connection.flush();
      await expect(ledger.read(key)).rejects.toThrow(UnusableEntryError);
    },
  );

  it('reports a full bucket', async () => {
    await ensureTopology(connection, TOPOLOGY);
    await written(3, 0);
    const { streams } = await jetstreamManager(connection);
    const name = `KV_${NAMES.shortQuotaBucket}`;
    const { state } = await streams.info(name);
    await streams.update(name, { max_bytes: state.bytes });
    const other = { ...key, hash: 'b'.repeat(64) };
    expect(await ledger.write(other, entry, 0)).toEqual({ kind: 'full', bound: 'bucket' });
    expect((await ledger.read(key)).entry).toEqual(entry);
  });

  it('rejects at once if the buckets are missing', async () => {
    await expect(ledger.read(key)).rejects.toThrow();
    await expect(ledger.write(key, entry, 0)).rejects.toThrow();
  });

  it('ends pending calls when the connection is lost, and counts the loss', async () => {
    await ensureTopology(connection, TOPOLOGY);
    await freeze(server.pid);
    const asked = ledger.read(key).then(
      () => 'answered',
      (error: unknown) => String(error),
    );
    const before = ledger.losses;
    await connection.close();
    expect(await asked).toContain('lost');
    expect([ledger.reachable, ledger.losses]).toEqual([false, before + 1]);
    await expect(ledger.read(key)).rejects.toThrow('away');
    thaw(server.pid);
  });

  it('reports the outcome of a write to a hanging server as unknown', async () => {
    await ensureTopology(connection, TOPOLOGY);
    await freeze(server.pid);
    expect(await ledger.write(key, entry, 0)).toEqual({ kind: 'unknown' });
    thaw(server.pid);
  });
});
