import { describe, expect, it } from '@jest/globals';
import {
  HEARTBEAT_LIFETIME_MS,
  type ReportedServiceHealth,
} from '@gateway/shared/heartbeats/heartbeat';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import fc from 'fast-check';
import { DataPlanes } from './data-planes.ts';
import { credentialFaults, serviceStatus, unusableConfiguration } from './fleet-health.ts';

const beat = (id: string, health?: ReportedServiceHealth) =>
  heartbeatOf(id, { services: health === undefined ? {} : { svc: health } });

function statusAfter(...reports: (ReportedServiceHealth | undefined)[]): string {
  const dataPlanes = new DataPlanes();
  reports.forEach((health, index) => dataPlanes.take(beat(`dp${index}`, health), 0));
  return statusAt(dataPlanes, 0);
}

function statusAt(dataPlanes: DataPlanes, nowMs: number): string {
  return serviceStatus(dataPlanes.live(nowMs), 'svc');
}

describe('the status of a service', () => {
  it('is unknown until a data plane has checked one of its upstreams', () => {
    expect(statusAfter()).toBe('unknown');
    expect(statusAfter(undefined, [0, 0, 3])).toBe('unknown');
  });

  it('covers its upstreams on all data planes', () => {
    expect(statusAfter([2, 0, 0], [1, 0, 1])).toBe('healthy');
    expect(statusAfter([2, 0, 0], [1, 1, 0])).toBe('degraded');
    expect(statusAfter([2, 0, 0], [0, 2, 0])).toBe('degraded');
    expect(statusAfter([0, 2, 0], [0, 1, 1])).toBe('unhealthy');
  });

  it('is degraded exactly if some data plane reports a healthy upstream and some a failing one', () => {
    const counts = fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3));
    fc.assert(
      fc.property(fc.array(counts, { maxLength: 6 }), (reports) => {
        const healthy = reports.some(([one]) => one > 0);
        const failing = reports.some(([, one]) => one > 0);
        const expected = healthy ? (failing ? 'degraded' : 'healthy') : 'unhealthy';
        expect(statusAfter(...reports)).toBe(healthy || failing ? expected : 'unknown');
      }),
    );
  });

  it('is degraded while a data plane refuses requests to it, unless it is worse', () => {
    const overloaded = (health: ReportedServiceHealth) => {
      const dataPlanes = new DataPlanes();
      dataPlanes.take({ ...beat('dp1', health), overloaded_services: ['other', 'svc'] }, 0);
      dataPlanes.take(beat('dp2', health), 0);
      return statusAt(dataPlanes, 0);
    };
    expect(overloaded([1, 0, 0])).toBe('degraded');
    expect(overloaded([0, 1, 0])).toBe('unhealthy');
    expect(overloaded([0, 0, 1])).toBe('unknown');
  });

  it('follows the last heartbeat of a data plane', () => {
    const dataPlanes = new DataPlanes();
    dataPlanes.take(beat('dp', [0, 2, 0]), 0);
    dataPlanes.take(beat('dp', [2, 0, 0]), 100);
    expect(statusAt(dataPlanes, 100)).toBe('healthy');
  });

  it('ignores a data plane that has missed three heartbeats or has left', () => {
    const dataPlanes = new DataPlanes();
    dataPlanes.take(beat('gone', [0, 2, 0]), 0);
    dataPlanes.take(beat('leaving', [0, 2, 0]), 5000);
    dataPlanes.take(beat('live', [2, 0, 0]), 5000);
    dataPlanes.remove('leaving');
    expect(statusAt(dataPlanes, HEARTBEAT_LIFETIME_MS)).toBe('degraded');
    expect(statusAt(dataPlanes, HEARTBEAT_LIFETIME_MS + 1)).toBe('healthy');
    expect(dataPlanes.live(HEARTBEAT_LIFETIME_MS + 1)).toHaveLength(1);
    expect(statusAt(dataPlanes, 5001 + HEARTBEAT_LIFETIME_MS)).toBe('unknown');
  });

  it('names the data planes that cannot decrypt credentials, as long as they are live', () => {
    const dataPlanes = new DataPlanes();
    const unusable = { key_id: 'k2', reason: 'key_missing', services: 3 } as const;
    dataPlanes.take({ ...beat('dp-1'), unusable_credentials: [unusable] }, 0);
    dataPlanes.take(beat('dp-2'), 0);
    expect(credentialFaults(dataPlanes.live(0))).toEqual([
      'data plane dp-1 cannot decrypt credentials encrypted with k2 (key_missing, services: 3)',
    ]);
    expect(credentialFaults(dataPlanes.live(HEARTBEAT_LIFETIME_MS + 1))).toEqual([]);
    dataPlanes.take(beat('dp-1'), HEARTBEAT_LIFETIME_MS + 1);
    expect(credentialFaults(dataPlanes.live(HEARTBEAT_LIFETIME_MS + 1))).toEqual([]);
  });

  it('names the data planes that cannot use a part of the configuration', () => {
    const dataPlanes = new DataPlanes();
    const element = {
      environment: 'production',
      kind: 'route',
      id: 'rte_1',
      name: 'charges',
      reason: 'auth.type Invalid input',
    } as const;
    const unusable = { unusable_counts: { production: 3 }, unusable_elements: [element] };
    dataPlanes.take({ ...beat('dp-1'), ...unusable }, 0);
    dataPlanes.take(beat('dp-2'), 0);
    expect(unusableConfiguration(dataPlanes.live(0))).toEqual([
      'data plane dp-1 cannot use a part of the configuration: route charges: auth.type Invalid input; and 2 more',
    ]);
    expect(unusableConfiguration(dataPlanes.live(HEARTBEAT_LIFETIME_MS + 1))).toEqual([]);
  });

  it('does not trust a data plane that claims to send one heartbeat a year', () => {
    const dataPlanes = new DataPlanes();
    dataPlanes.take({ ...beat('liar', [2, 0, 0]), interval_ms: 365 * 86_400_000 }, 0);
    expect(statusAt(dataPlanes, 60_001)).toBe('unknown');
  });
});
