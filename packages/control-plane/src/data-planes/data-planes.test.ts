import { describe, expect, it } from '@jest/globals';
import { HEARTBEAT_INTERVAL_MS, HEARTBEAT_LIFETIME_MS } from '@gateway/shared/heartbeats/heartbeat';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { DataPlanes, STALE_MS } from './data-planes.ts';

const beat = (id: string, version: number) =>
  heartbeatOf(id, { config_versions: { production: version } });
const wanted = new Map([['production', 7]]);

function restoredDataPlanes(): DataPlanes {
  const dataPlanes = new DataPlanes();
  dataPlanes.restored();
  return dataPlanes;
}

describe('the list of data planes', () => {
  it('contains the live ones, and silent ones until they are removed, but none that left', () => {
    const dataPlanes = restoredDataPlanes();
    dataPlanes.take(beat('silent', 7), 0);
    dataPlanes.take(beat('leaving', 7), 0);
    dataPlanes.remove('leaving');
    dataPlanes.take(beat('live', 7), HEARTBEAT_LIFETIME_MS);
    const ids = (nowMs: number) => dataPlanes.list(nowMs).map(({ heartbeat }) => heartbeat.id);
    expect(ids(HEARTBEAT_LIFETIME_MS + STALE_MS)).toEqual(['live', 'silent']);
    expect(ids(HEARTBEAT_LIFETIME_MS + STALE_MS + 1)).toEqual(['live']);
  });

  it('is bounded, and those that are long gone make room', () => {
    const dataPlanes = restoredDataPlanes();
    for (let index = 0; index < 1000; index += 1) {
      expect(dataPlanes.take(beat(`dp-${index}`, 1), 0)).toBe(true);
    }
    expect(dataPlanes.take(beat('one more', 1), 1)).toBe(false);
    expect(dataPlanes.take(beat('dp-7', 1), 1)).toBe(true);
    const laterMs = HEARTBEAT_LIFETIME_MS + STALE_MS + 1;
    expect(dataPlanes.take(beat('one more', 1), laterMs)).toBe(true);
  });
});

describe('the newest version that is served', () => {
  it('is that of live data planes, below a bound', () => {
    const dataPlanes = restoredDataPlanes();
    expect(dataPlanes.newestVersion('production', 0)).toBe(0);
    dataPlanes.take(beat('newer', 9), 0);
    dataPlanes.take(beat('older', 7), HEARTBEAT_LIFETIME_MS);
    dataPlanes.take(beat('false', Number.MAX_SAFE_INTEGER), HEARTBEAT_LIFETIME_MS);
    expect(dataPlanes.newestVersion('production', HEARTBEAT_LIFETIME_MS)).toBe(9);
    expect(dataPlanes.newestVersion('production', HEARTBEAT_LIFETIME_MS + 1)).toBe(7);
    expect(dataPlanes.newestVersion('staging', 0)).toBe(0);
  });
});

describe('a full list of data planes', () => {
  it('removes the one that has been silent longest, and keeps the live ones', () => {
    const dataPlanes = restoredDataPlanes();
    for (let index = 0; index < 1000; index += 1) dataPlanes.take(beat(`dp-${index}`, 1), index);
    for (let nowMs = 2000; nowMs <= 8000; nowMs += 2000) dataPlanes.take(beat('dp-0', 1), nowMs);
    expect(dataPlanes.take(beat('one more', 1), 8000)).toBe(true);
    const ids = dataPlanes.list(8000).map(({ heartbeat }) => heartbeat.id);
    expect(ids).toHaveLength(1000);
    expect(ids).toEqual(expect.arrayContaining(['dp-0', 'dp-2', 'one more']));
    expect(ids).not.toContain('dp-1');
  });

  it('removes nobody shortly after an outage of NATS, when it is not known who is live', () => {
    const dataPlanes = restoredDataPlanes();
    for (let index = 0; index < 1000; index += 1) dataPlanes.take(beat(`dp-${index}`, 1), 0);
    expect(dataPlanes.take(beat('one more', 1), 60_000)).toBe(false);
    dataPlanes.take(beat('dp-0', 1), 60_000 + HEARTBEAT_LIFETIME_MS);
    expect(dataPlanes.take(beat('one more', 1), 60_001 + HEARTBEAT_LIFETIME_MS)).toBe(true);
  });
});

describe('the rollout of a version', () => {
  it('is complete when every live data plane serves it or a newer one', () => {
    const dataPlanes = restoredDataPlanes();
    expect(dataPlanes.rolloutState(wanted, 0)).toBe('unknown');
    dataPlanes.take(beat('a', 7), 0);
    expect(dataPlanes.rolloutState(wanted, 0)).toBe('complete');
    dataPlanes.take(beat('b', 6), 0);
    expect(dataPlanes.rolloutState(wanted, 0)).toBe('behind');
    dataPlanes.take(beat('b', 8), 1);
    expect(dataPlanes.rolloutState(wanted, 1)).toBe('complete');
    dataPlanes.take(heartbeatOf('new'), 2);
    expect(dataPlanes.rolloutState(wanted, 2)).toBe('behind');
    dataPlanes.remove('new');
    expect(dataPlanes.rolloutState(wanted, 2)).toBe('complete');
  });

  it('does not need a data plane that has missed three heartbeats', () => {
    const dataPlanes = restoredDataPlanes();
    dataPlanes.take(beat('gone', 6), 0);
    for (let nowMs = 0; nowMs <= HEARTBEAT_LIFETIME_MS; nowMs += HEARTBEAT_INTERVAL_MS) {
      dataPlanes.take(beat('live', 7), nowMs);
    }
    expect(dataPlanes.rolloutState(wanted, HEARTBEAT_LIFETIME_MS)).toBe('behind');
    expect(dataPlanes.rolloutState(wanted, HEARTBEAT_LIFETIME_MS + 1)).toBe('complete');
  });

  it('is not complete after an outage of NATS until all data planes can have sent a heartbeat', () => {
    const dataPlanes = restoredDataPlanes();
    dataPlanes.take(beat('a', 6), 0);
    dataPlanes.take(beat('b', 6), 0);
    const backMs = 60_000;
    dataPlanes.take(beat('a', 7), backMs);
    expect(dataPlanes.rolloutState(wanted, backMs)).toBe('behind');
    dataPlanes.take(beat('a', 7), backMs + HEARTBEAT_LIFETIME_MS);
    expect(dataPlanes.rolloutState(wanted, backMs + HEARTBEAT_LIFETIME_MS + 1)).toBe('complete');
  });

  it('is unknown until the stored heartbeats are read', () => {
    const dataPlanes = new DataPlanes();
    dataPlanes.take(beat('a', 7), 0);
    expect(dataPlanes.rolloutState(wanted, 0)).toBe('unknown');
    dataPlanes.restored();
    expect(dataPlanes.rolloutState(wanted, 0)).toBe('complete');
  });
});
