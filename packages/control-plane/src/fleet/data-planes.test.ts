import { describe, expect, it } from '@jest/globals';
import { HEARTBEAT_INTERVAL_MS, HEARTBEAT_LIFETIME_MS } from '@gateway/shared/heartbeats/heartbeat';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { DataPlanes, FORGOTTEN_AFTER_MS } from './data-planes.ts';

const beat = (id: string, version: number) =>
  heartbeatOf(id, { config_versions: { production: version } });
const wanted = new Map([['production', 7]]);

function known(): DataPlanes {
  const dataPlanes = new DataPlanes();
  dataPlanes.complete();
  return dataPlanes;
}

describe('the data planes that are known', () => {
  it('are those that beat, the silent ones too until they are forgotten, without those that left', () => {
    const dataPlanes = known();
    dataPlanes.take(beat('silent', 7), 0);
    dataPlanes.take(beat('leaving', 7), 0);
    dataPlanes.left('leaving');
    dataPlanes.take(beat('live', 7), HEARTBEAT_LIFETIME_MS);
    const ids = (nowMs: number) => dataPlanes.list(nowMs).map(({ heartbeat }) => heartbeat.id);
    expect(ids(HEARTBEAT_LIFETIME_MS + FORGOTTEN_AFTER_MS)).toEqual(['live', 'silent']);
    expect(ids(HEARTBEAT_LIFETIME_MS + FORGOTTEN_AFTER_MS + 1)).toEqual(['live']);
  });

  it('are no more than there is room for, and those long gone make room', () => {
    const dataPlanes = known();
    for (let index = 0; index < 1000; index += 1) {
      expect(dataPlanes.take(beat(`dp-${index}`, 1), 0)).toBe(true);
    }
    expect(dataPlanes.take(beat('one more', 1), 1)).toBe(false);
    expect(dataPlanes.take(beat('dp-7', 1), 1)).toBe(true);
    const laterMs = HEARTBEAT_LIFETIME_MS + FORGOTTEN_AFTER_MS + 1;
    expect(dataPlanes.take(beat('one more', 1), laterMs)).toBe(true);
  });
});

describe('a full list of data planes', () => {
  it('forgets the one that has been silent for longest, and keeps the live ones', () => {
    const dataPlanes = known();
    for (let index = 0; index < 1000; index += 1) dataPlanes.take(beat(`dp-${index}`, 1), index);
    for (let nowMs = 2000; nowMs <= 8000; nowMs += 2000) dataPlanes.take(beat('dp-0', 1), nowMs);
    expect(dataPlanes.take(beat('one more', 1), 8000)).toBe(true);
    const ids = dataPlanes.list(8000).map(({ heartbeat }) => heartbeat.id);
    expect(ids).toHaveLength(1000);
    expect(ids).toEqual(expect.arrayContaining(['dp-0', 'dp-2', 'one more']));
    expect(ids).not.toContain('dp-1');
  });

  it('forgets nobody while it is not known who lives, as NATS has only just come back', () => {
    const dataPlanes = known();
    for (let index = 0; index < 1000; index += 1) dataPlanes.take(beat(`dp-${index}`, 1), 0);
    expect(dataPlanes.take(beat('one more', 1), 60_000)).toBe(false);
    dataPlanes.take(beat('dp-0', 1), 60_000 + HEARTBEAT_LIFETIME_MS);
    expect(dataPlanes.take(beat('one more', 1), 60_001 + HEARTBEAT_LIFETIME_MS)).toBe(true);
  });
});

describe('a version', () => {
  it('is served everywhere when every live data plane serves it or a newer one', () => {
    const dataPlanes = known();
    expect(dataPlanes.judge(wanted, 0)).toBe('none');
    dataPlanes.take(beat('a', 7), 0);
    expect(dataPlanes.judge(wanted, 0)).toBe('everywhere');
    dataPlanes.take(beat('b', 6), 0);
    expect(dataPlanes.judge(wanted, 0)).toBe('behind');
    dataPlanes.take(beat('b', 8), 1);
    expect(dataPlanes.judge(wanted, 1)).toBe('everywhere');
    dataPlanes.take(heartbeatOf('new'), 2);
    expect(dataPlanes.judge(wanted, 2)).toBe('behind');
    dataPlanes.left('new');
    expect(dataPlanes.judge(wanted, 2)).toBe('everywhere');
  });

  it('is not waited for at a data plane that has missed three beats', () => {
    const dataPlanes = known();
    dataPlanes.take(beat('gone', 6), 0);
    for (let nowMs = 0; nowMs <= HEARTBEAT_LIFETIME_MS; nowMs += HEARTBEAT_INTERVAL_MS) {
      dataPlanes.take(beat('live', 7), nowMs);
    }
    expect(dataPlanes.judge(wanted, HEARTBEAT_LIFETIME_MS)).toBe('behind');
    expect(dataPlanes.judge(wanted, HEARTBEAT_LIFETIME_MS + 1)).toBe('everywhere');
  });

  it('is not taken for served by the first that is heard after nobody was', () => {
    const dataPlanes = known();
    dataPlanes.take(beat('a', 6), 0);
    dataPlanes.take(beat('b', 6), 0);
    const backMs = 60_000;
    dataPlanes.take(beat('a', 7), backMs);
    expect(dataPlanes.judge(wanted, backMs)).toBe('behind');
    dataPlanes.take(beat('a', 7), backMs + HEARTBEAT_LIFETIME_MS);
    expect(dataPlanes.judge(wanted, backMs + HEARTBEAT_LIFETIME_MS + 1)).toBe('everywhere');
  });

  it('is not taken for served before it is known whom this process has not heard yet', () => {
    const dataPlanes = new DataPlanes();
    dataPlanes.take(beat('a', 7), 0);
    expect(dataPlanes.judge(wanted, 0)).toBe('none');
    dataPlanes.complete();
    expect(dataPlanes.judge(wanted, 0)).toBe('everywhere');
  });
});
