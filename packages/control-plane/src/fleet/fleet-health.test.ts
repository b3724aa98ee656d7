import { describe, expect, it } from '@jest/globals';
import {
  HEARTBEAT_LIFETIME_MS,
  type ReportedServiceHealth,
} from '@gateway/shared/heartbeats/heartbeat';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import fc from 'fast-check';
import { FleetHealth } from './fleet-health.ts';

const beat = (id: string, health?: ReportedServiceHealth) =>
  heartbeatOf(id, { services: health === undefined ? {} : { svc: health } });

function statusAfter(...reports: (ReportedServiceHealth | undefined)[]): string {
  const fleet = new FleetHealth();
  reports.forEach((health, index) => fleet.take(beat(`dp${index}`, health), 0));
  return fleet.statusOf('svc', 0);
}

describe('the status of a service', () => {
  it('is unknown until a data plane has checked one of its upstreams', () => {
    expect(statusAfter()).toBe('unknown');
    expect(statusAfter(undefined, [0, 0, 3])).toBe('unknown');
  });

  it('is that of its upstreams over all data planes', () => {
    expect(statusAfter([2, 0, 0], [1, 0, 1])).toBe('healthy');
    expect(statusAfter([2, 0, 0], [1, 1, 0])).toBe('degraded');
    expect(statusAfter([2, 0, 0], [0, 2, 0])).toBe('degraded');
    expect(statusAfter([0, 2, 0], [0, 1, 1])).toBe('unhealthy');
  });

  it('is degraded just where one healthy and one failing upstream are seen, in any fleet', () => {
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

  it('follows what a data plane says last', () => {
    const fleet = new FleetHealth();
    fleet.take(beat('dp', [0, 2, 0]), 0);
    fleet.take(beat('dp', [2, 0, 0]), 100);
    expect(fleet.statusOf('svc', 100)).toBe('healthy');
  });

  it('no longer counts a data plane that has missed three beats, or has left', () => {
    const fleet = new FleetHealth();
    fleet.take(beat('gone', [0, 2, 0]), 0);
    fleet.take(beat('leaving', [0, 2, 0]), 5000);
    fleet.take(beat('live', [2, 0, 0]), 5000);
    fleet.left('leaving');
    expect(fleet.statusOf('svc', HEARTBEAT_LIFETIME_MS)).toBe('degraded');
    expect(fleet.statusOf('svc', HEARTBEAT_LIFETIME_MS + 1)).toBe('healthy');
    expect(fleet.liveDataPlanes(HEARTBEAT_LIFETIME_MS + 1)).toBe(1);
    expect(fleet.statusOf('svc', 5001 + HEARTBEAT_LIFETIME_MS)).toBe('unknown');
  });

  it('tells which data planes cannot open which credentials, as long as they live', () => {
    const fleet = new FleetHealth();
    const unusable = { key_id: 'k2', reason: 'key_missing', services: 3 } as const;
    fleet.take({ ...beat('dp-1'), unusable_credentials: [unusable] }, 0);
    fleet.take(beat('dp-2'), 0);
    expect(fleet.credentialFaults(0)).toEqual([
      'data plane dp-1 cannot open credentials sealed under k2 (key_missing, services: 3)',
    ]);
    expect(fleet.credentialFaults(HEARTBEAT_LIFETIME_MS + 1)).toEqual([]);
    fleet.take(beat('dp-1'), HEARTBEAT_LIFETIME_MS + 1);
    expect(fleet.credentialFaults(HEARTBEAT_LIFETIME_MS + 1)).toEqual([]);
  });

  it('believes nobody who claims to beat once in a year', () => {
    const fleet = new FleetHealth();
    fleet.take({ ...beat('liar', [2, 0, 0]), interval_ms: 365 * 86_400_000 }, 0);
    expect(fleet.statusOf('svc', 60_001)).toBe('unknown');
  });

  it('is kept for a bounded number of data planes: room is made by those that are silent', () => {
    const fleet = new FleetHealth();
    for (let index = 0; index < 1000; index += 1) {
      expect(fleet.take(beat(`dp${index}`), 0)).toBe(true);
    }
    expect(fleet.take(beat('one more'), 0)).toBe(false);
    expect(fleet.take(beat('dp7'), 0)).toBe(true);
    expect(fleet.take(beat('one more'), HEARTBEAT_LIFETIME_MS + 1)).toBe(true);
  });
});
