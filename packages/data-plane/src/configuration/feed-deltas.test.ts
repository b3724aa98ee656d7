import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { systemClock } from '@gateway/shared/clock';
import { configLogSubject, configWantedSubject, NAMES } from '@gateway/shared/messaging/names';
import { ensureTopology } from '@gateway/shared/messaging/topology';
import { sealLogEntry } from '@gateway/shared/snapshot/signed-log-entry';
import { eventually } from '@gateway/shared/test/eventually';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { startConfigurationFeed } from './configuration-feed.ts';
import { openLastGood } from './last-good.ts';
import { linkNats } from '../nats/nats-link.ts';
import { captureLog } from '../../test/captured-log.ts';
import {
  deltaOf,
  newKey,
  openConfigPublisher,
  sealRepeated,
  type ConfigPublisher,
} from '@gateway/shared/test/config-publisher';
import { openOwnNats, type OwnNats } from '../../test/own-nats.ts';

const key = newKey();
const ENVIRONMENT = 'production';
const TOPOLOGY = { replicas: 1, maxRecordStreamBytes: 1024 * 1024 };
let own: OwnNats;
let connection: NatsConnection;
let publisher: ConfigPublisher;

beforeEach(async () => {
  own = await openOwnNats();
  const server = await own.startServer();

  connection = await own.connect(server.url);
  await ensureTopology(connection, TOPOLOGY);
  publisher = await openConfigPublisher(connection, key);
});
afterEach(() => own.close());

function start(nats = Promise.resolve(connection)) {
  const { log } = captureLog();
  /** How each version came to be served. */
  const applied: string[] = [];
  const state = { refuses: 0 };
  const registry = new Registry();
  const feed = startConfigurationFeed({
    link: linkNats(nats, log),
    keys: [key],
    clock: systemClock,
    log,
    registry,
    lastGood: openLastGood(path.join(own.folder, 'last-good'), [key], log),
    random: Math.random,
    sink: {
      apply: ({ version }) => void applied.push(`load ${version}`),
      applyDelta({ version }) {
        if (version === state.refuses) throw new Error('it contradicts itself');
        applied.push(`change ${version}`);
      },
    },
  });
  own.defer(() => feed.stop());
  const version = () => feed.status.environments.get(ENVIRONMENT)?.version;
  const becomes = (expected: readonly string[]) =>
    eventually(() => expect(applied).toEqual(expected), { deadlineMs: 20_000 });
  const versionOnceLoaded = async () => {
    let loaded: number | undefined;
    await eventually(
      () => {
        expect(feed.isLoaded()).toBe(true);
        loaded = version();
      },
      { intervalMs: 1 },
    );
    return loaded;
  };
  return { feed, applied, registry, version, becomes, versionOnceLoaded, state };
}

/** Waits for a data plane to ask for a snapshot, and gives a function that awaits the next time. */
function watchWanted() {
  const asked: string[] = [];
  connection.subscribe(configWantedSubject(ENVIRONMENT), {
    callback: (_error, { subject }) => void asked.push(subject),
  });
  return () => eventually(() => expect(asked.length).toBeGreaterThan(0), { deadlineMs: 20_000 });
}

/** Points to a snapshot that repeats what this entry made. */
async function repeat(entry: Uint8Array): Promise<void> {
  const { pointer, bytes } = await sealRepeated(entry, ENVIRONMENT, [key]);
  await publisher.objects.putBlob({ name: pointer.object }, bytes);
  await publisher.pointers.put(ENVIRONMENT, JSON.stringify(pointer));
}

describe('the configuration as deltas', () => {
  it('is served delta by delta, at the start and afterwards', async () => {
    await publisher.publish(ENVIRONMENT, 1);
    await publisher.change(ENVIRONMENT, 1);
    await publisher.change(ENVIRONMENT, 2, 5);
    const { becomes, feed } = start();
    await becomes(['load 1', 'change 2', 'change 5']);
    await eventually(() => expect(feed.isLoaded()).toBe(true));
    const last = await publisher.change(ENVIRONMENT, 5);
    await repeat(last);
    await publisher.change(ENVIRONMENT, 6);
    await becomes(['load 1', 'change 2', 'change 5', 'change 6', 'change 7']);
    expect(feed.status).toMatchObject({ connected: true, lastError: undefined });
  });

  it('is loaded only when the deltas after the snapshot are served as well', async () => {
    await publisher.publish(ENVIRONMENT, 1);
    for (let from = 1; from < 30; from += 1) await publisher.change(ENVIRONMENT, from);
    const { versionOnceLoaded } = start();
    expect(await versionOnceLoaded()).toBe(30);
  });

  it('is loaded although the log begins with entries of a removed key', async () => {
    for (const from of [1, 2]) {
      await publisher.append(
        ENVIRONMENT,
        sealLogEntry(deltaOf(ENVIRONMENT, from), [newKey('gone')]),
      );
    }
    await publisher.publish(ENVIRONMENT, 3);
    for (let from = 3; from < 30; from += 1) await publisher.change(ENVIRONMENT, from);
    const { feed, versionOnceLoaded } = start();
    expect(await versionOnceLoaded()).toBe(30);
    expect(feed.status.lastError).toBeUndefined();
  });

  it('is loaded from a requested snapshot if a delta is missing', async () => {
    await publisher.publish(ENVIRONMENT, 1);
    const { becomes, registry, feed } = start();
    await becomes(['load 1']);
    const wanted = watchWanted();
    const last = await publisher.change(ENVIRONMENT, 2);
    await wanted();
    expect(feed.status.lastError).toContain('gap');
    await repeat(last);
    await becomes(['load 1', 'load 3']);
    expect(feed.status.lastError).toBeUndefined();
    await publisher.change(ENVIRONMENT, 3);
    await becomes(['load 1', 'load 3', 'change 4']);
    expect(await registry.metrics()).toMatch(/gateway_config_gaps_total [1-9]/);
  });

  it('stays in service if a delta does not apply, is forged or damaged, and the next valid delta is applied', async () => {
    await publisher.publish(ENVIRONMENT, 1);
    const { becomes, registry, feed, state } = start();
    await becomes(['load 1']);
    await publisher.append(ENVIRONMENT, 'no entry at all');
    await publisher.append(ENVIRONMENT, sealLogEntry(deltaOf(ENVIRONMENT, 1, 9), [newKey(key.id)]));
    await publisher.append(ENVIRONMENT, sealLogEntry(deltaOf('development', 1, 9), [key]));
    await eventually(() => expect(feed.status.lastError).toContain('another environment'));
    await publisher.change(ENVIRONMENT, 1);
    await becomes(['load 1', 'change 2']);
    expect(feed.status.lastError).toBeUndefined();
    state.refuses = 3;
    await publisher.change(ENVIRONMENT, 2);
    await eventually(() => expect(feed.status.lastError).toContain('it contradicts itself'));
    const last = await publisher.change(ENVIRONMENT, 3);
    await repeat(last);
    await becomes(['load 1', 'change 2', 'load 4']);
    const metrics = await registry.metrics();
    expect(metrics).toContain('gateway_config_refused_total{reason="delta_refused"} 3');
    expect(metrics).toContain('gateway_config_refused_total{reason="apply_failed"} 1');
  });

  it('is served after a restart without NATS, deltas included', async () => {
    await publisher.publish(ENVIRONMENT, 1);
    const first = start();
    await first.becomes(['load 1']);
    for (let from = 1; from < 10; from += 1) await publisher.change(ENVIRONMENT, from);
    await eventually(() => expect(first.version()).toBe(10));
    await first.feed.stop();
    const second = start(new Promise(() => undefined));
    await second.feed.restored;
    expect(second.version()).toBe(10);
    expect(second.feed.status.environments.get(ENVIRONMENT)?.source).toBe('file');
    await second.feed.stop();
    const third = start();
    await eventually(() =>
      expect(third.feed.status.environments.get(ENVIRONMENT)?.source).toBe('nats'),
    );
    await publisher.change(ENVIRONMENT, 10);
    await eventually(() => expect(third.version()).toBe(11));
    expect((await readdir(path.join(own.folder, 'last-good'))).toSorted()[0]).toMatch(/deltas$/);
  });

  it('continues after an outage of NATS, and from the snapshot if the log was lost', async () => {
    await publisher.publish(ENVIRONMENT, 1);
    const { becomes, version, applied } = start();
    await publisher.change(ENVIRONMENT, 1);
    await becomes(['load 1', 'change 2']);
    const manager = await jetstreamManager(connection);
    for await (const { name } of manager.consumers.list(NAMES.configLog)) {
      await manager.consumers.delete(NAMES.configLog, name);
    }
    await publisher.change(ENVIRONMENT, 2);
    await eventually(() => expect(version()).toBe(3), { deadlineMs: 20_000 });
    await manager.streams.purge(NAMES.configLog, { filter: configLogSubject(ENVIRONMENT) });
    await manager.streams.delete(NAMES.configLog);
    await ensureTopology(connection, TOPOLOGY);
    await publisher.publish(ENVIRONMENT, 4);
    await publisher.change(ENVIRONMENT, 4);
    await eventually(() => expect(version()).toBe(5), { deadlineMs: 20_000 });
    expect(applied).toEqual(['load 1', 'change 2', 'change 3', 'load 4', 'change 5']);
  });
});
