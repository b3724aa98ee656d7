import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import path from 'node:path';
import { Registry } from 'prom-client';
import { systemClock } from '@gateway/shared/clock';
import { ensureTopology } from '@gateway/shared/messaging/topology';
import { eventually } from '@gateway/shared/test/eventually';
import type { NatsConnection } from '@nats-io/nats-core';
import { startConfigurationFeed, type ConfigurationFeed } from './configuration-feed.ts';
import { openLastGood } from './last-good.ts';
import { linkNats } from '../nats/nats-link.ts';
import { captureLog } from '../../test/captured-log.ts';
import {
  newKey,
  openConfigPublisher,
  type ConfigPublisher,
} from '@gateway/shared/test/config-publisher';
import { openOwnNats, type OwnNats } from '../../test/own-nats.ts';

const key = newKey();

describe('the configuration is loaded', () => {
  let own: OwnNats;
  let connection: NatsConnection;
  let publisher: ConfigPublisher;

  beforeEach(async () => {
    own = await openOwnNats();
    const server = await own.startServer();
    connection = await own.connect(server.url);
    await ensureTopology(connection, { replicas: 1, maxRecordStreamBytes: 1024 * 1024 });
    publisher = await openConfigPublisher(connection, key);
  });
  afterEach(() => own.close());

  /** @param onApply told of each environment just before it is served. */
  function start(
    onApply: (environment: string, feed: ConfigurationFeed) => void = () => undefined,
  ) {
    const { log } = captureLog();
    const feed = startConfigurationFeed({
      link: linkNats(Promise.resolve(connection), log),
      keys: [key],
      lastGood: openLastGood(path.join(own.folder, 'last-good'), [key], log),
      clock: systemClock,
      log,
      registry: new Registry(),
      random: Math.random,
      sink: {
        apply: ({ environment }) => onApply(environment, feed),
        applyDelta: () => undefined,
      },
    });
    own.defer(() => feed.stop());
    return feed;
  }
  const becomesLoaded = (feed: ConfigurationFeed) =>
    eventually(() => expect(feed.status.loaded).toBe(true));

  it('when every environment that existed at the start is served, not when the first one is', async () => {
    const environments = ['a', 'b', 'c', 'd'];
    for (const environment of environments) await publisher.publish(environment, 1);
    const seen: [string, boolean][] = [];
    const feed = start((environment, own) => seen.push([environment, own.isLoaded()]));
    await becomesLoaded(feed);
    expect(seen.toSorted()).toEqual(environments.map((environment) => [environment, false]));
    expect(feed.isComplete()).toBe(true);
  });

  it('not while there is none', async () => {
    const feed = start();
    await eventually(() => expect(feed.status.connected).toBe(true));
    expect(feed.status.loaded).toBe(false);
    await publisher.publish('first', 1);
    await becomesLoaded(feed);
  });

  it('not while the snapshot of one cannot be downloaded yet', async () => {
    await publisher.publish('good', 1);
    const { pointer, bytes } = await publisher.seal('late', 1);
    await publisher.pointers.put('late', JSON.stringify(pointer));
    const feed = start();
    await eventually(() => {
      expect([...feed.status.environments.keys()]).toEqual(['good']);
      expect(feed.status.errors.get('late')).toMatch(/download_failed/);
    });
    expect(feed.status.loaded).toBe(false);
    await publisher.objects.putBlob({ name: pointer.object }, bytes);
    await becomesLoaded(feed);
    expect([...feed.status.environments.keys()]).toEqual(['good', 'late']);
  });

  it('although one environment cannot be served', async () => {
    await publisher.publish('good', 1);
    const { pointer } = await publisher.seal('without-object', 1);
    await publisher.pointers.put('without-object', JSON.stringify(pointer));
    await publisher.pointers.put('forged', JSON.stringify({ ...pointer, environment: 'forged' }));
    const feed = start();
    await becomesLoaded(feed);
    expect([...feed.status.environments.keys()]).toEqual(['good']);
    expect(feed.isComplete()).toBe(false);
  });

  it('at once from the last-good files, and stays loaded when another environment arrives', async () => {
    await publisher.publish('kept', 1);
    const before = start();
    await becomesLoaded(before);
    await before.stop();
    const after = start();
    await after.restored;
    expect(after.status.loaded).toBe(true);
    await publisher.publish('another', 1);
    const seen: boolean[] = [];
    await eventually(() => {
      seen.push(after.status.loaded);
      expect(after.status.environments.has('another')).toBe(true);
    });
    expect(new Set(seen)).toEqual(new Set([true]));
  });
});
