import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { systemClock } from '@gateway/shared/clock';
import { NAMES } from '@gateway/shared/messaging/names';
import { ensureTopology } from '@gateway/shared/messaging/topology';
import { eventually } from '@gateway/shared/test/eventually';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { startConfigurationFeed, type ConfigurationFeed } from './configuration-feed.ts';
import { openLastGood } from './last-good.ts';
import { linkNats } from '../nats/nats-link.ts';
import { captureLog } from '../../test/captured-log.ts';
import { openOwnNats, type OwnNats } from '../../test/own-nats.ts';
import {
  newKey,
  openConfigPublisher,
  type ConfigPublisher,
} from '@gateway/shared/test/config-publisher';

const key = newKey();
const stream = `KV_${NAMES.configBucket}`;
let own: OwnNats;

beforeEach(async () => {
  own = await openOwnNats();
});

afterEach(() => own.close());

async function openPublisher(url: string): Promise<ConfigPublisher & { nats: NatsConnection }> {
  const nats = await own.connect(url);
  await ensureTopology(nats, { replicas: 1, maxRecordStreamBytes: 1024 * 1024 });
  return { ...(await openConfigPublisher(nats, key)), nats };
}

function start(nats: Promise<NatsConnection>): {
  feed: ConfigurationFeed;
  applied: (string | number)[];
} {
  const { log } = captureLog();
  const applied: (string | number)[] = [];
  const feed = startConfigurationFeed({
    link: linkNats(nats, log),
    keys: [key],
    lastGood: openLastGood(path.join(own.folder, 'config'), [key], log),
    clock: systemClock,
    log,
    registry: new Registry(),
    random: Math.random,
    sink: {
      apply: ({ version }) => void applied.push(version),
      applyDelta: ({ version }) => void applied.push(version),
    },
  });
  own.defer(() => feed.stop());
  return { feed, applied };
}

const becomes = (applied: readonly unknown[], expected: readonly unknown[]) =>
  eventually(() => expect(applied).toEqual(expected), { deadlineMs: 20_000 });

describe('the configuration of a data plane', () => {
  it('is served from disk without NATS, and follows NATS once it is connected', async () => {
    const server = await own.startServer();
    const publisher = await openPublisher(server.url);
    await publisher.publish('production', 1);
    const first = start(own.connect(server.url));
    await becomes(first.applied, [1]);
    await first.feed.stop();
    await publisher.publish('production', 2);
    await server.stop();

    const second = start(own.connect(server.url));
    await second.feed.restored;
    expect(second.applied).toEqual([1]);
    expect(second.feed.status.connected).toBe(false);
    await own.startServer({ port: server.port });
    await becomes(second.applied, [1, 2]);
    expect(second.feed.status.connected).toBe(true);
  });

  it('follows changes again after a restart of the server', async () => {
    const server = await own.startServer();
    const publisher = await openPublisher(server.url);
    const { applied, feed } = start(own.connect(server.url));
    await publisher.publish('production', 1);
    await becomes(applied, [1]);
    await server.stop();
    await eventually(() => expect(feed.status.connected).toBe(false));
    await own.startServer({ port: server.port });
    await eventually(() => publisher.publish('production', 2), { deadlineMs: 20_000 });
    await becomes(applied, [1, 2]);
  });

  it('survives the loss of all data in NATS, and follows the new data', async () => {
    const server = await own.startServer();
    const publisher = await openPublisher(server.url);
    const { applied, feed } = start(own.connect(server.url));
    await publisher.publish('production', 1);
    await publisher.publish('development', 1);
    await publisher.publish('production', 2);
    await becomes(applied, [1, 1, 2]);
    await server.stop();
    await own.startServer({ port: server.port, data: 'empty' });
    await eventually(() => expect(feed.status.connected).toBe(false));
    const again = await openPublisher(server.url);
    await again.publish('production', 3);
    await becomes(applied, [1, 1, 2, 3]);
    expect([...feed.status.environments.keys()]).toEqual(['production', 'development']);
  });

  it('follows a bucket that was created again while the connection stayed open', async () => {
    const server = await own.startServer();
    const publisher = await openPublisher(server.url);
    const { applied } = start(own.connect(server.url));
    for (const version of [1, 2, 3]) await publisher.publish('production', version);
    await eventually(() => expect(applied.at(-1)).toBe(3));
    const before = applied.length;
    await (await jetstreamManager(publisher.nats)).streams.delete(stream);
    await ensureTopology(publisher.nats, { replicas: 1, maxRecordStreamBytes: 1024 * 1024 });
    await publisher.publish('production', 4);
    await eventually(() => expect(applied.slice(before)).toEqual([4]), { deadlineMs: 20_000 });
  });

  it('is followed again after the server lost the consumers', async () => {
    const server = await own.startServer();
    const publisher = await openPublisher(server.url);
    const { applied } = start(own.connect(server.url));
    await publisher.publish('production', 1);
    await becomes(applied, [1]);
    const manager = await jetstreamManager(publisher.nats);
    for await (const { name } of manager.consumers.list(stream)) {
      await manager.consumers.delete(stream, name);
    }
    await publisher.publish('production', 2);
    await becomes(applied, [1, 2]);
  });
});
