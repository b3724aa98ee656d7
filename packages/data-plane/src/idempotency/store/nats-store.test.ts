import { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { ensureTopology } from '@gateway/shared/messaging/topology';
import { eventually } from '@gateway/shared/test/eventually';
import type { NatsConnection } from '@nats-io/nats-core';
import { captureLog } from '../../../test/captured-log.ts';
import { linkNats } from '../../nats/nats-link.ts';
import { openOwnNats, type OwnNats } from '../../../test/own-nats.ts';
import { StoreFullError, StoreUnavailableError } from './idempotency-store.ts';
import { NatsIdempotencyStore } from './nats-store.ts';
import { MemoryIdempotencyStore } from '../../../test/idempotency/memory-store.ts';
import { describeStore, newName } from '../../../test/idempotency/store-contract.ts';

let nats: OwnNats;
let store: NatsIdempotencyStore;

async function open(url: string): Promise<[NatsIdempotencyStore, NatsConnection]> {
  const connecting = nats.connect(url);
  const link = linkNats(connecting, captureLog().log);
  const connection = await connecting;
  await eventually(() => expect(link.connection).toBe(connection));
  return [new NatsIdempotencyStore(link, systemClock, () => 1), connection];
}

beforeAll(async () => {
  nats = await openOwnNats();
  const server = await nats.startServer();
  const [opened, connection] = await open(server.url);
  store = opened;
  await ensureTopology(connection, { replicas: 1, maxRecordStreamBytes: 1024 * 1024 });
});

afterAll(() => nats.close());

const memory = new MemoryIdempotencyStore();
describeStore('a store of idempotency keys in memory', () => memory);
describeStore('a store of idempotency keys in NATS', () => store);

describe('the store of idempotency keys in NATS', () => {
  it('fails at once while NATS is down, and is available again afterwards', async () => {
    const server = await nats.startServer({ data: 'outage' });
    const [away, connection] = await open(server.url);
    await ensureTopology(connection, { replicas: 1, maxRecordStreamBytes: 1024 * 1024 });
    const key = newName();
    const written = await away.write(key, Buffer.from('kept'), 0);
    await server.stop();
    await eventually(async () => {
      const startedMs = performance.now();
      await expect(away.read(key)).rejects.toThrow('NATS is away');
      await expect(away.write(key, Buffer.from('lost'), 0)).rejects.toThrow(StoreUnavailableError);
      await expect(away.remove(key, 0)).rejects.toThrow(StoreUnavailableError);
      expect(performance.now() - startedMs).toBeLessThan(500);
    });
    await nats.startServer({ data: 'outage', port: server.port });
    await eventually(async () => {
      const found = await away.read(key);
      expect([found.revision, Buffer.from(found.value ?? []).toString()]).toEqual([
        written,
        'kept',
      ]);
    });
    expect(away.losses).toBe(1);
  });

  it('sends what is written in one turn of the event loop in one write to its socket', async () => {
    const writes = jest.spyOn(Socket.prototype, 'write');
    const write = (name: string) => store.write(name, Buffer.from('x'), 0);
    // Each in a callback of its own, after which the client sends.
    const written = Array.from({ length: 20 }, async () => {
      await new Promise(setImmediate);
      return write(newName());
    });
    expect(await Promise.all(written)).not.toContain(undefined);
    const sent = writes.mock.calls.map(([bytes]) => Buffer.from(bytes).toString('latin1'));
    writes.mockRestore();
    expect(sent.filter((text) => text.startsWith('HPUB'))).toHaveLength(1);
  });

  it('is unavailable, not empty, if its bucket is missing', async () => {
    const server = await nats.startServer({ data: 'bare' });
    const [bare] = await open(server.url);
    await expect(bare.read(newName())).rejects.toThrow(StoreUnavailableError);
    await expect(bare.write(newName(), Buffer.from('x'), 0)).rejects.toThrow(StoreUnavailableError);
  });

  it('refuses a new key if it is full, and removes no old one', async () => {
    const server = await nats.startServer({ data: 'full' });
    const [full, connection] = await open(server.url);
    const limits = { replicas: 1, maxRecordStreamBytes: 1024 * 1024 };
    await ensureTopology(connection, { ...limits, maxIdempotencyBytes: 1024 * 1024 });
    const key = newName();
    await full.write(key, Buffer.from('old'), 0);
    const value = new Uint8Array(400 * 1024);
    const fill = async () => {
      for (let index = 0; index < 4; index += 1) await full.write(newName(), value, 0);
    };
    await expect(fill()).rejects.toThrow(StoreFullError);
    expect(Buffer.from((await full.read(key)).value ?? []).toString()).toBe('old');
  });

  it('gives callers without credentials half, and a route with many keys none of the last part', async () => {
    const server = await nats.startServer({ data: 'bounded' });
    const [store, connection] = await open(server.url);
    const limits = { replicas: 1, maxRecordStreamBytes: 1024 * 1024 };
    await ensureTopology(connection, { ...limits, maxIdempotencyBytes: 1024 * 1024 });
    const anonymous = { key: 'production/open', withoutCredentials: true };
    const [large, small] = [{ key: 'production/large' }, { key: 'production/small' }];
    const value = new Uint8Array(64 * 1024);
    const bounds = () => [anonymous, large, small].map((owner) => store.boundOf(owner));
    const fill = async (keys: number) => {
      for (let key = 0; key < keys; key += 1) {
        store.stored(large, value.length);
        await store.write(newName(), value, 0);
      }
    };
    await fill(4);
    expect(bounds()).toEqual([undefined, undefined, undefined]);
    await fill(5);
    await eventually(() => expect(bounds()).toEqual(['no_credentials', undefined, undefined]));
    await fill(3);
    await eventually(() => expect(bounds()).toEqual(['no_credentials', 'route', undefined]));
    await fill(3);
    await eventually(() => expect(bounds()).toEqual(['bucket', 'bucket', 'bucket']));
  });

  it('has no room for new keys before it refuses outcomes of known keys', async () => {
    const server = await nats.startServer({ data: 'nearly full' });
    const [store, connection] = await open(server.url);
    const limits = { replicas: 1, maxRecordStreamBytes: 1024 * 1024 };
    await ensureTopology(connection, { ...limits, maxIdempotencyBytes: 1024 * 1024 });
    const key = newName();
    const claimed = await store.write(key, Buffer.from('claim'), 0);
    expect(store.hasRoom).toBe(true);
    const value = new Uint8Array(480 * 1024);
    for (let index = 0; index < 2; index += 1) await store.write(newName(), value, 0);
    await eventually(() => expect(store.hasRoom).toBe(false));
    const response = new Uint8Array(40 * 1024);
    expect(await store.write(key, response, claimed ?? 0)).toBeGreaterThan(0);
  });
});
