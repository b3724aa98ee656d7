import { describe, expect, it } from '@jest/globals';
import { runAtOnce } from '@gateway/shared/pace';
import type { SnapshotService } from '@gateway/shared/snapshot/schema';
import { DEFAULT_LIMITS, testSnapshot } from '@gateway/shared/test/snapshot';
import { compileEnvironment } from '../routing-table/compile.ts';
import {
  EMPTY_TABLE,
  withEnvironment,
  type CompiledRoute,
  type CompiledService,
} from '../routing-table/routing-table.ts';
import { Bulkheads } from './bulkheads.ts';

/** A table with these services, each with a route of the same name. */
function tableOf(limits: Readonly<Record<string, Partial<SnapshotService['limits']>>>) {
  const { services, routes, ...rest } = testSnapshot({ upstreams: ['http://a.test'] }, 'secret');
  const [service] = services;
  const [route] = routes;
  if (service === undefined || route === undefined) throw new Error('no example');
  const names = Object.keys(limits);
  const snapshot = {
    ...rest,
    services: names.map((name) => ({
      ...service,
      id: `svc_${name}`,
      name,
      limits: { ...DEFAULT_LIMITS, ...limits[name] },
    })),
    routes: names.map((name) => ({
      ...route,
      id: `rte_${name}`,
      name,
      versions: [{ name: null, service_id: `svc_${name}`, weight: 1 }],
    })),
  };
  return withEnvironment(EMPTY_TABLE, runAtOnce(compileEnvironment(snapshot)));
}

function open(
  limits: Readonly<Record<string, Partial<SnapshotService['limits']>>>,
  max = 100,
  processes = 1,
) {
  const table = tableOf(limits);
  const bulkheads = new Bulkheads({ max, processes });
  const releases: (() => void)[] = [];
  const holder = { onFinish: (undo: () => void) => void releases.push(undo) };
  const environment = table.environments.get('production');
  const find = (name: string): [CompiledRoute, CompiledService] => {
    const route = environment?.routes.get(name);
    const service = environment?.services.get(`svc_${name}`);
    if (route === undefined || service === undefined) throw new Error(`no ${name}`);
    return [route, service];
  };
  const enter = (name: string) => bulkheads.tryTake(holder, ...find(name), table);
  /** Enters until it is refused. */
  const fill = (name: string) => {
    for (let entered = 0; ; entered += 1) {
      const refusal = enter(name);
      if (refusal !== undefined) return { entered, refusal };
    }
  };
  const leaveAll = () => {
    for (const release of releases.splice(0)) release();
  };
  return { bulkheads, enter, fill, leaveAll };
}

describe('the bulkheads of services', () => {
  it('give a service at most half of the slots by default, and the others the rest', () => {
    const { fill } = open({ hung: {}, sound: {} });
    expect(fill('hung')).toEqual({ entered: 50, refusal: { of: 'service', max: 50 } });
    expect(fill('sound').entered).toBeGreaterThan(20);
  });

  it('give all slots to the only service, but for those that are kept free for other routes', () => {
    expect(open({ alone: {} }, 3).fill('alone')).toEqual({
      entered: 3,
      refusal: { of: 'process' },
    });
    expect(open({ alone: {} }, 100).fill('alone')).toEqual({
      entered: 75,
      refusal: { of: 'route' },
    });
  });

  it('give a service at least one slot', () => {
    expect(open({ a: {}, b: {} }, 1).fill('a').entered).toBe(1);
  });

  it('keep to max_in_flight of a service, also above half', () => {
    const { fill } = open({ small: { max_in_flight: 3 }, large: { max_in_flight: 70 } }, 10_000);
    expect(fill('small')).toEqual({ entered: 3, refusal: { of: 'service', max: 3 } });
    expect(fill('large')).toEqual({ entered: 70, refusal: { of: 'service', max: 70 } });
  });

  it('share max_in_flight between the processes of a data plane', () => {
    const { fill } = open({ small: { max_in_flight: 10 } }, 100, 4);
    expect(fill('small').entered).toBe(3);
  });

  it('get every slot back, and a refused request holds none', () => {
    const { bulkheads, fill, leaveAll } = open({ a: {}, b: {} });
    for (let again = 0; again < 3; again += 1) {
      expect(fill('a').entered).toBe(50);
      fill('b');
      leaveAll();
      expect([bulkheads.count, bulkheads.loadOf('svc_a').count]).toEqual([0, 0]);
    }
  });

  it('leave slots for another service when ten hang', () => {
    const hung = Array.from({ length: 10 }, (_none, index) => `hung${index}`);
    const names = [...hung, 'sound'].map((name) => [name, {}] as const);
    const { fill, enter } = open(Object.fromEntries(names), 10_000);
    for (const name of hung) fill(name);
    for (let request = 0; request < 10; request += 1) expect(enter('sound')).toBeUndefined();
  });
});
