import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock, type Clock } from '@gateway/shared/clock';
import { heartbeatSchema, MAX_HEARTBEAT_BYTES } from '@gateway/shared/heartbeats/heartbeat';
import { heartbeatSubject, NAMES } from '@gateway/shared/messaging/names';
import { ensureTopology } from '@gateway/shared/messaging/topology';
import { eventually } from '@gateway/shared/test/eventually';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { Registry } from 'prom-client';
import { linkNats } from '../nats/nats-link.ts';
import { createHeartbeats, type HeartbeatReport, type Heartbeats } from './heartbeats.ts';
import { captureLog } from '../../test/captured-log.ts';
import { openOwnNats, type OwnNats } from '../../test/own-nats.ts';

const REPORT: HeartbeatReport = {
  config_versions: { production: 4 },
  config_errors: {
    development: 'snapshot_refused: the hash of the snapshot is not the one in its pointer',
  },
  in_flight: 2,
  last_error: null,
  services: { svc_1: [2, 1, 0] },
  upstream_states: [['ups_1', 'unhealthy']],
  upstream_reasons: [],
  unusable_credentials: [{ key_id: 'k2', reason: 'key_missing', services: 3 }],
  unusable_counts: {},
  unusable_elements: [],
  overloaded_services: ['svc_1'],
  process_cpu_ratio: 0.42,
  process_resident_memory_bytes: 222_298_112,
  memory_limit_bytes: 536_870_912,
  event_loop_delay_ms: 12,
};

let own: OwnNats;
beforeEach(async () => void (own = await openOwnNats()));
afterEach(() => own.close());

function start(
  nats: Promise<NatsConnection>,
  dataPlaneId: string,
  report = () => REPORT,
  clock: Clock = systemClock,
) {
  const registry = new Registry();
  const { log, lines } = captureLog();
  const heartbeats = createHeartbeats({
    link: linkNats(nats, log),
    dataPlaneId,
    region: 'eu',
    clock,
    log,
    registry,
  });
  heartbeats.start(report);
  own.defer(() => heartbeats.stop());
  return { heartbeats, registry, lines };
}

async function stored(connection: NatsConnection, id: string) {
  const manager = await jetstreamManager(connection);
  const message = await manager.streams.getMessage(`KV_${NAMES.dataPlaneBucket}`, {
    last_by_subj: heartbeatSubject(id),
  });
  return message;
}

const topology = (connection: NatsConnection) =>
  ensureTopology(connection, { replicas: 1, maxRecordStreamBytes: 1024 ** 2 });

async function live(heartbeats: readonly Heartbeats[], count: number): Promise<void> {
  await eventually(() => {
    expect(heartbeats.map((one) => one.liveDataPlanes())).toEqual(heartbeats.map(() => count));
  });
}

describe('heartbeats', () => {
  it('reveal two data planes with the same id to both of them, which count as two', async () => {
    const { url } = await own.startServer();
    const connections = [own.connect(url), own.connect(url)] as const;
    await topology(await connections[0]);
    const earlier = { ...systemClock, nowMs: () => systemClock.nowMs() - 60_000 };
    const first = start(connections[0], 'same', () => REPORT, earlier);
    const second = start(connections[1], 'same');
    for (const { heartbeats, lines } of [first, second]) {
      await eventually(() => {
        first.heartbeats.beatSoon();
        second.heartbeats.beatSoon();
        expect(heartbeats.problem).toMatch(/^another data plane has the id same/);
      });
      expect(heartbeats.liveDataPlanes()).toBe(2);
      expect(lines.filter(({ msg }) => msg.startsWith('duplicate data plane id'))).toHaveLength(1);
    }
  });

  it('are stored in the bucket and received by all data planes, which notice when one leaves', async () => {
    const { url } = await own.startServer();
    const connections = [own.connect(url), own.connect(url), own.connect(url)] as const;
    await topology(await connections[0]);
    const all = connections.map((one, index) => start(one, `dp.${index}`).heartbeats);
    await live(all, 3);
    const message = await eventually(async () => {
      const found = await stored(await connections[0], 'dp.1');
      if (found === null) throw new Error('no heartbeat yet');
      return found;
    });
    const heartbeat = heartbeatSchema.parse(message.json());
    expect(heartbeat).toMatchObject({
      ...REPORT,
      id: 'dp.1',
      region: 'eu',
      unreported_services: 0,
    });
    await all[2]?.stop();
    await live(all.slice(0, 2), 2);
  });

  it('measure the offset of the server’s clock, within the stated error', async () => {
    const { url } = await own.startServer();
    const nats = own.connect(url);
    await topology(await nats);
    const { heartbeats } = start(nats, 'dp');
    const offsetMs = await eventually(() => {
      const known = heartbeats.serverTimeOffsetMs();
      if (known === undefined) throw new Error('not known yet');
      return known;
    });
    // Same machine, same clock.
    expect(Math.abs(offsetMs)).toBeLessThanOrEqual(heartbeats.serverTimeErrorMs() ?? NaN);
  });

  it('keep the time of the server when the local clock is set', async () => {
    const { url } = await own.startServer();
    const nats = own.connect(url);
    await topology(await nats);
    let setMs = 0;
    const clock = { ...systemClock, nowMs: () => Date.now() + setMs };
    const { heartbeats, lines } = start(nats, 'dp', () => REPORT, clock);
    await eventually(() => expect(heartbeats.serverTimeOffsetMs()).toBeDefined());
    for (setMs of [-90_000, 90_000]) {
      const serverMs = clock.nowMs() + (heartbeats.serverTimeOffsetMs() ?? NaN);
      // Same machine, so the server's clock is the one that was not set.
      const errorMs = Math.abs(serverMs - Date.now());
      expect(errorMs).toBeLessThanOrEqual(heartbeats.serverTimeErrorMs() ?? NaN);
    }
    // The next beats and the log report it.
    await eventually(async () => {
      const beat = heartbeatSchema.parse((await stored(await nats, 'dp'))?.json());
      expect(Math.abs((beat.server_ahead_ms ?? 0) + 90_000)).toBeLessThan(1000);
      const { level, msg } = lines.at(-1) ?? {};
      expect([level, msg]).toEqual([40, 'clock differs from the clock of the NATS server']);
    });
  });

  it('keep the last known number and offset while NATS is down, and are sent at once when it is back', async () => {
    const server = await own.startServer();
    const first = own.connect(server.url);
    await topology(await first);
    const one = start(first, 'a').heartbeats;
    const other = start(own.connect(server.url), 'b').heartbeats;
    await live([one, other], 2);
    await eventually(() => expect(one.serverTimeOffsetMs()).toBeDefined());
    await server.stop();
    await eventually(() => expect(one.liveDataPlanes()).toBe(2));
    expect(one.serverTimeOffsetMs()).toBeDefined();
    await own.startServer({ port: server.port });
    // The bucket is in memory, so it is missing until a control plane creates it again.
    await eventually(async () => topology(await first));
    await eventually(async () => expect(await stored(await first, 'a')).not.toBeNull());
    await live([one, other], 2);
  });

  it('count as failed while the connection to NATS is lost', async () => {
    const server = await own.startServer();
    const connection = own.connect(server.url);
    await topology(await connection);
    const { heartbeats, registry } = start(connection, 'a');
    await live([heartbeats], 1);
    await server.stop();
    // One may have been under way.
    await eventually(async () => {
      heartbeats.beatSoon();
      expect(await registry.metrics()).toMatch(/gateway_heartbeat_failures_total [3-9]/);
    });
  });

  it('are received even if the bucket is missing; the failure is counted and logged once', async () => {
    const { url } = await own.startServer();
    const one = start(own.connect(url), 'a');
    const other = start(own.connect(url), 'b');
    await live([one.heartbeats, other.heartbeats], 2);
    await eventually(async () =>
      expect(await one.registry.metrics()).toMatch(/gateway_heartbeat_failures_total [2-9]/),
    );
    expect(one.lines.filter(({ msg }) => msg === 'heartbeat publish failed')).toHaveLength(1);
  });

  it('report a change at once', async () => {
    const { url } = await own.startServer();
    const nats = own.connect(url);
    await topology(await nats);
    let report = REPORT;
    const { heartbeats } = start(nats, 'dp', () => report);
    const services = async () =>
      heartbeatSchema.parse((await stored(await nats, 'dp'))?.json()).services;
    await eventually(async () => expect(await services()).toEqual(REPORT.services));
    report = { ...REPORT, services: { svc_1: [0, 3, 0] } };
    heartbeats.beatSoon();
    await eventually(async () => expect(await services()).toEqual(report.services), {
      deadlineMs: 1500,
    });
  });

  it('have a bounded rate, however often there is a change to report', async () => {
    const { url } = await own.startServer();
    const nats = own.connect(url);
    await topology(await nats);
    const heardMs: number[] = [];
    (await nats).subscribe(heartbeatSubject('dp'), {
      callback: (_error, message) => {
        if (message.data.length === 0) return;
        heardMs.push(heartbeatSchema.parse(message.json()).sent_at_ms);
      },
    });
    const { heartbeats } = start(nats, 'dp');
    const urging = setInterval(() => heartbeats.beatSoon(), 1);
    try {
      await eventually(() => expect(heardMs.length).toBeGreaterThanOrEqual(5));
    } finally {
      clearInterval(urging);
    }
    const gapsMs = heardMs.slice(2).map((atMs, index) => atMs - (heardMs[index + 1] ?? NaN));
    // The first beats are at the start and at the connect; clocks round to a millisecond.
    expect(Math.min(...gapsMs)).toBeGreaterThanOrEqual(295);
  });

  it('stay within their size limit: services that do not fit are left out and counted', async () => {
    const { url } = await own.startServer();
    const nats = own.connect(url);
    await topology(await nats);
    const ids = Array.from(
      { length: 20_000 },
      (_, index) => `svc_${String(index).padStart(26, '0')}`,
    );
    const services = Object.fromEntries(
      ids.map((id) => [id, [10, 0, 0] as [number, number, number]]),
    );
    const { registry } = start(nats, 'dp', () => ({ ...REPORT, services }));
    const message = await eventually(async () => {
      const found = await stored(await nats, 'dp');
      if (found === null) throw new Error('no heartbeat yet');
      return found;
    });
    expect(message.data.length).toBeLessThanOrEqual(MAX_HEARTBEAT_BYTES);
    const heartbeat = heartbeatSchema.parse(message.json());
    const reported = Object.keys(heartbeat.services).length;
    expect(reported).toBeGreaterThan(4000);
    expect(heartbeat.unreported_services).toBe(20_000 - reported);
    expect(await registry.metrics()).toContain(
      `gateway_heartbeat_unreported_services ${20_000 - reported}`,
    );
  });
});
