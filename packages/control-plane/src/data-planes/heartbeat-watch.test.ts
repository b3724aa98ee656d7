import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { heartbeatSubject, NAMES } from '@gateway/shared/messaging/names';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/test/eventually';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { UndoList } from '@gateway/shared/test/undo-list';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Registry } from 'prom-client';
import { DataPlanes } from './data-planes.ts';
import { openTestNats, type TestNats } from '../../test/nats.ts';
import { credentialFaults, serviceStatus } from './fleet-health.ts';
import { createFleetMetrics } from './fleet-metrics.ts';
import { watchHeartbeats } from './heartbeat-watch.ts';

const STREAM = `KV_${NAMES.dataPlaneBucket}`;

let nats: TestNats;
const undo = new UndoList();
beforeEach(async () => void (nats = await openTestNats()));
afterEach(async () => {
  await undo.run();
  await (await jetstreamManager(nats.connection)).streams.purge(STREAM);
  await nats.close();
});

function watch() {
  const dataPlanes = new DataPlanes();
  const live = () => dataPlanes.live(performance.now());
  const registry = new Registry();
  const metrics = createFleetMetrics(registry, {
    liveDataPlanes: () => live().length,
    withUnusableCredentials: () => credentialFaults(live()).length,
  });
  const watching = watchHeartbeats({
    connection: nats.connection,
    prepare: nats.prepare,
    dataPlanes,
    clock: systemClock,
    log: createLogger('test', 'silent'),
    metrics,
  });
  undo.add(() => watching.stop());
  const status = () => serviceStatus(live(), 'svc');
  return { live, registry, status };
}

const beat = (id: string, healthy: number, failing: number) =>
  heartbeatOf(id, { services: { svc: [healthy, failing, 0] } });

async function publish(id: string, payload: string): Promise<void> {
  await jetstream(nats.connection).publish(heartbeatSubject(id), payload);
}

describe('the heartbeat watch', () => {
  it('reads the stored heartbeats at the start, then follows each one', async () => {
    await publish('dp.1', JSON.stringify(beat('dp.1', 2, 0)));
    const { live, status } = watch();
    await eventually(() => expect(status()).toBe('healthy'));
    await publish('dp.2', JSON.stringify(beat('dp.2', 0, 2)));
    await eventually(() => expect(status()).toBe('degraded'));
    expect(live()).toHaveLength(2);
    await publish('dp.2', '');
    await eventually(() => expect(status()).toBe('healthy'));
  });

  it('reads the stored heartbeats in parallel', async () => {
    const ids = Array.from({ length: 30 }, (_, index) => `dp.${index}`);
    await Promise.all(ids.map((id) => publish(id, JSON.stringify(beat(id, 1, 0)))));
    const { connection } = nats;
    const request = connection.request.bind(connection);
    let running = 0;
    let most = 0;
    connection.request = async (subject, payload, options) => {
      const isRead = subject.startsWith('$JS.API.STREAM.MSG.GET.');
      running += isRead ? 1 : 0;
      most = Math.max(most, running);
      try {
        return await request(subject, payload, options);
      } finally {
        running -= isRead ? 1 : 0;
      }
    };
    const { live } = watch();
    await eventually(() => expect(live()).toHaveLength(30));
    expect(most).toBe(30);
  });

  it('gives several control planes the same view', async () => {
    const watches = [watch(), watch(), watch()];
    await publish('dp', JSON.stringify(beat('dp', 0, 1)));
    await eventually(() =>
      expect(watches.map(({ status }) => status())).toEqual(watches.map(() => 'unhealthy')),
    );
  });

  it('counts malformed heartbeats and those sent for another data plane, and ignores them', async () => {
    const { registry, status } = watch();
    await publish('dp', 'no JSON');
    await publish('dp', JSON.stringify({ ...beat('dp', 1, 0), services: { svc: ['all'] } }));
    await publish('dp', JSON.stringify(beat('another', 1, 0)));
    await eventually(async () =>
      expect(await registry.metrics()).toContain(
        'gateway_control_plane_heartbeats_refused_total 3',
      ),
    );
    expect(status()).toBe('unknown');
  });

  it('takes heartbeats of the release before, of a later one, and with a figure of the process out of bounds', async () => {
    const { live, registry } = watch();
    const { process_cpu_ratio: _cpu, event_loop_delay_ms: _delay, ...before } = beat('a', 1, 0);
    await publish('a', JSON.stringify(before));
    await publish('b', JSON.stringify({ ...beat('b', 1, 0), of_a_later_release: [1] }));
    await publish('c', JSON.stringify({ ...beat('c', 1, 0), process_cpu_ratio: 1e9 }));
    await eventually(() => expect(live()).toHaveLength(3));
    const known = live().toSorted((a, b) => (a.heartbeat.id < b.heartbeat.id ? -1 : 1));
    expect(known.map(({ heartbeat }) => heartbeat)).toEqual(
      ['a', 'b', 'c'].map((id) => beat(id, 1, 0)),
    );
    expect(await registry.metrics()).toContain('gateway_control_plane_heartbeats_refused_total 0');
  });

  it('creates the bucket again if the server has lost it', async () => {
    const manager = await jetstreamManager(nats.connection);
    const { status } = watch();
    await manager.streams.delete(STREAM);
    await eventually(() => manager.streams.info(STREAM));
    await publish('dp', JSON.stringify(beat('dp', 1, 0)));
    await eventually(() => expect(status()).toBe('healthy'));
  });
});
