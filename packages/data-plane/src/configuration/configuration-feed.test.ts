import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { systemClock } from '@gateway/shared/clock';
import { ensureTopology } from '@gateway/shared/messaging/topology';
import type { Snapshot } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import type { NatsConnection } from '@nats-io/nats-core';
import { startConfigurationFeed, type ConfigurationFeed } from './configuration-feed.ts';
import { openLastGood } from './last-good.ts';
import { linkNats } from '../nats/nats-link.ts';
import { captureLog, type LogLine } from '../../test/captured-log.ts';
import {
  newEnvironment,
  newKey,
  openConfigPublisher,
  type ConfigPublisher,
} from '@gateway/shared/test/config-publisher';
import { openOwnNats, type OwnNats } from '../../test/own-nats.ts';

const key = newKey();
let nats: OwnNats;
let connection: NatsConnection;
let publisher: ConfigPublisher;
let folder: string;
let environment: string;
let running: ConfigurationFeed[];

// A server of its own: every data plane watches all environments, those of other suites too.
beforeAll(async () => {
  nats = await openOwnNats();
  connection = await nats.connect((await nats.startServer()).url);
  await ensureTopology(connection, { replicas: 1, maxRecordStreamBytes: 64 * 1024 * 1024 });
  publisher = await openConfigPublisher(connection, key);
});

afterAll(() => nats.close());

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'config-feed-'));
  environment = newEnvironment();
  running = [];
});

afterEach(async () => {
  await Promise.all(running.map((feed) => feed.stop()));
  await publisher.pointers.purge(environment);
  await rm(folder, { recursive: true });
});

interface Started {
  readonly feed: ConfigurationFeed;
  /** Versions of this test's environment, -1 for its removal. */
  readonly applied: number[];
  readonly lines: LogLine[];
  readonly registry: Registry;
}

function start(apply: (snapshot: Snapshot) => void = () => undefined): Started {
  const { log, lines } = captureLog();
  const applied: number[] = [];
  const registry = new Registry();
  const feed = startConfigurationFeed({
    link: linkNats(Promise.resolve(connection), log),
    keys: [key],
    lastGood: openLastGood(path.join(folder, 'config'), [key], log),
    clock: systemClock,
    log,
    registry,
    random: Math.random,
    sink: {
      apply(snapshot) {
        apply(snapshot);
        if (snapshot.environment === environment) applied.push(snapshot.version);
      },
      applyDelta: (delta) => void applied.push(delta.version),
    },
  });
  running.push(feed);
  return { feed, applied, lines, registry };
}

const becomes = (applied: readonly number[], expected: readonly number[]) =>
  eventually(() => expect(applied).toEqual(expected));

describe('the configuration from NATS', () => {
  it('is served at the start, and each change after it', async () => {
    await publisher.publish(environment, 3);
    const { feed, applied } = start();
    await becomes(applied, [3]);
    await publisher.publish(environment, 4);
    await becomes(applied, [3, 4]);
    expect(feed.status).toMatchObject({ connected: true, lastError: undefined });
    expect(feed.status.environments.get(environment)).toMatchObject({ version: 4, source: 'nats' });
  });

  it('never goes back to an older version, and ends with the newest of a burst', async () => {
    const { applied } = start();
    const sealed = await Promise.all(
      Array.from({ length: 30 }, (_, index) => publisher.seal(environment, index + 1)),
    );
    for (const { pointer, bytes } of sealed) {
      await publisher.objects.putBlob({ name: pointer.object }, bytes);
    }
    for (const { pointer } of sealed) {
      await publisher.pointers.put(environment, JSON.stringify(pointer));
    }
    await eventually(() => expect(applied.at(-1)).toBe(30));
    expect(applied).toEqual(applied.toSorted((a, b) => a - b));
    expect(new Set(applied).size).toBe(applied.length);
  });

  it('is refused if it is forged or damaged; the old version stays in service until a valid one arrives', async () => {
    const { applied, feed, registry, lines } = start();
    await publisher.publish(environment, 1);
    await becomes(applied, [1]);

    const forged = await publisher.seal(environment, 2, [newKey(key.id)]);
    await publisher.pointers.put(environment, JSON.stringify(forged.pointer));
    await eventually(() => expect(feed.status.lastError).toContain('pointer_refused'));

    const damaged = await publisher.seal(environment, 3);
    await publisher.objects.putBlob({ name: damaged.pointer.object }, forged.bytes);
    await publisher.pointers.put(environment, JSON.stringify(damaged.pointer));
    await eventually(() => expect(feed.status.lastError).toContain('snapshot_refused'));

    await publisher.pointers.put(environment, 'no pointer at all');
    await eventually(() => expect(feed.status.lastError).toContain('not JSON'));
    expect(feed.status.environments.get(environment)?.version).toBe(1);

    await publisher.publish(environment, 4);
    await becomes(applied, [1, 4]);
    expect(feed.status.lastError).toBeUndefined();
    const metrics = await registry.metrics();
    expect(metrics).toContain('gateway_config_refused_total{reason="pointer_refused"} 2');
    expect(metrics).toContain('gateway_config_refused_total{reason="snapshot_refused"} 1');
    expect(metrics).toContain(`gateway_config_version{environment="${environment}"} 4`);
    const refusals = lines.filter(({ msg }) => msg === 'configuration rejected');
    expect(refusals.map(({ reason }) => reason)).toEqual([
      'pointer_refused',
      'snapshot_refused',
      'pointer_refused',
    ]);
  });

  it('is served once its object arrives, if the pointer arrives first', async () => {
    const { applied, feed } = start();
    const sealed = await publisher.seal(environment, 1);
    await publisher.pointers.put(environment, JSON.stringify(sealed.pointer));
    await eventually(() => expect(feed.status.lastError).toContain('not in the object store'));
    await publisher.objects.putBlob({ name: sealed.pointer.object }, sealed.bytes);
    await becomes(applied, [1]);
  });

  it('is complete if its object has many chunks', async () => {
    const { applied, feed } = start();
    const sealed = await publisher.seal(environment, 1);
    const parts = { name: sealed.pointer.object, options: { max_chunk_size: 16 } };
    await publisher.objects.putBlob(parts, sealed.bytes);
    await publisher.pointers.put(environment, JSON.stringify(sealed.pointer));
    await becomes(applied, [1]);
    expect(feed.status.lastError).toBeUndefined();
  });

  it('stays in service if its pointer is deleted, because a deletion is not signed', async () => {
    const { applied, feed } = start();
    await publisher.publish(environment, 1);
    await becomes(applied, [1]);
    await publisher.pointers.delete(environment);
    await publisher.publish(environment, 2);
    await becomes(applied, [1, 2]);
    expect(feed.status.lastError).toBeUndefined();
  });

  it('is served one change at a time', async () => {
    const { applied } = start();
    for (let version = 1; version <= 50; version += 1) {
      await publisher.publish(environment, version);
      await eventually(() => expect(applied.at(-1)).toBe(version), { intervalMs: 1 });
    }
    expect(applied).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  });
});

describe('the configuration on disk', () => {
  it('is written when it is served, and the next process serves it at once', async () => {
    const first = start();
    await publisher.publish(environment, 5);
    await becomes(first.applied, [5]);
    await first.feed.stop();
    const second = start();
    await second.feed.restored;
    expect(second.applied).toEqual([5]);
    expect(second.feed.status.environments.get(environment)?.source).toBe('file');
    await eventually(() =>
      expect(second.feed.status.environments.get(environment)?.source).toBe('nats'),
    );
    expect(second.applied).toEqual([5]);
  });

  it('may fail to be written: requests are still answered, a metric counts it, one log line reports it', async () => {
    await writeFile(path.join(folder, 'config'), 'a file where the folder should be');
    const { applied, registry, lines } = start();
    for (const version of [1, 2, 3]) {
      await publisher.publish(environment, version);
      await eventually(() => expect(applied.at(-1)).toBe(version));
      await eventually(async () =>
        expect(await registry.metrics()).toMatch(
          new RegExp(`gateway_config_last_good_failures_total ${version}\\b`),
        ),
      );
    }
    const complaints = lines.filter(({ msg }) => msg.includes('not written'));
    expect(complaints).toHaveLength(1);
  });
});
