import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import type { Snapshot } from '@gateway/shared/snapshot/schema';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { Registry } from 'prom-client';
import { captureLog } from '../../../test/captured-log.ts';
import { TableHolder } from '../../routing-table/table-holder.ts';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { CONSECUTIVE_FAILURES, EJECTION_MS } from './upstream-state.ts';
import { UpstreamHealth } from './upstream-health.ts';

const INTERVAL_MS = 5000;

/** Checks in the hands of the test: what each address answers, and which were asked. */
function setUp({ maxParallelChecks = 32 } = {}) {
  const clock = manualClock();
  const registry = new Registry();
  const { log, lines } = captureLog();
  const table = new TableHolder();
  const bad = new Set<string>();
  const held: (() => void)[] = [];
  const asked: string[] = [];
  const state = { holds: false, changes: 0 };
  const health = new UpstreamHealth({
    ...{ clock, log, registry, maxParallelChecks },
    selection: { region: 'eu', load: { inFlight: () => 0 }, random: () => 0.5 },
    async check(upstream, path, timeoutMs, cutShort) {
      asked.push(`${upstream.origin}${path} ${timeoutMs}`);
      if (state.holds) {
        await new Promise<void>((resolve) => {
          held.push(resolve);
          cutShort?.addEventListener('abort', () => resolve());
        });
      }
      return { verdict: bad.has(upstream.origin) ? 'bad' : 'good', detail: 'status_200' };
    },
    onChange: () => void (state.changes += 1),
  });
  const use = (snapshot: Snapshot) => {
    table.apply(snapshot);
    health.reconcile(table.current);
  };
  const balancer = (id = 'svc_test') => {
    const service = table.current.environments.get('production')?.services.get(id);
    if (service === undefined) throw new Error('no such service');
    return health.of(service);
  };
  /** Passes time in steps, so that what a check leads to is timed as it would be. */
  const pass = async (ms: number, stepMs = 50) => {
    for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
      clock.advance(stepMs);
      for (let turn = 0; turn < 4; turn += 1) await Promise.resolve();
    }
  };
  const names = (id?: string) => balancer(id).states.map(({ name }) => name);
  return {
    ...{ clock, registry, lines, health, use, balancer, pass, names, bad, asked, held, state },
  };
}

const token = createTokenSecret();

function snapshotOf(
  upstreams: readonly string[],
  change: {
    version?: number;
    timeout_ms?: number;
    check?: Partial<Snapshot['services'][number]['health_check']>;
  } = {},
): Snapshot {
  const { version = 1, timeout_ms = 5000 } = change;
  const snapshot = testSnapshot({ upstreams, timeout_ms }, token);
  return {
    ...snapshot,
    version,
    services: snapshot.services.map((service) => ({
      ...service,
      health_check: {
        ...{ path: '/healthz', interval_ms: INTERVAL_MS, timeout_ms: 2000 },
        ...{ healthy_threshold: 2, unhealthy_threshold: 3 },
        ...change.check,
      },
    })),
  };
}

const TWO = ['http://a.test', 'http://b.test'];

describe('the health of upstreams', () => {
  it('is checked soon, then at every interval, shortened a little', async () => {
    const { use, pass, names, asked } = setUp();
    use(snapshotOf(TWO));
    expect(names()).toEqual(['unknown', 'unknown']);
    await pass(250);
    expect(names()).toEqual(['healthy', 'healthy']);
    expect(asked.toSorted()).toEqual(TWO.map((url) => `${url}/healthz 2000`));
    await pass(20_000);
    expect(asked.length).toBeGreaterThanOrEqual(2 * 5);
    expect(asked.length).toBeLessThanOrEqual(2 * 6);
  });

  it('confirms a first bad check quickly: an upstream that is down is known within 1.5 intervals', async () => {
    const { use, pass, names, bad, lines, state } = setUp();
    use(snapshotOf(TWO));
    await pass(1000);
    bad.add('http://b.test');
    await pass(1.5 * INTERVAL_MS);
    expect(names()).toEqual(['healthy', 'unhealthy']);
    bad.clear();
    await pass(1.6 * INTERVAL_MS);
    expect(names()).toEqual(['healthy', 'healthy']);
    const told = lines.filter(({ msg }) => msg === 'the health of an upstream changed');
    expect(told.map((line) => line as object)).toMatchObject([
      { upstream: 'ups_0', from: 'unknown', to: 'healthy', reason: 'check_passed' },
      { upstream: 'ups_1', from: 'unknown', to: 'healthy', reason: 'check_passed' },
      { upstream: 'ups_1', from: 'healthy', to: 'unhealthy', reason: 'checks_failed' },
      { upstream: 'ups_1', from: 'unhealthy', to: 'healthy', reason: 'check_passed' },
    ]);
    expect(told.every((line) => 'service' in line && line.service === 'svc_test')).toBe(true);
    expect(state.changes).toBe(4);
  });

  it('keeps every counter and timer when a route changes, and forgets what is gone', async () => {
    const { use, pass, names, balancer, bad, asked } = setUp();
    use(snapshotOf(TWO));
    await pass(1000);
    const fail = () => balancer().ended(0, balancer().begin(0), 'bad');
    for (let count = 1; count < CONSECUTIVE_FAILURES; count += 1) fail();
    const dueAfter = asked.length;
    use(snapshotOf(TWO, { version: 2, timeout_ms: 6000 }));
    await pass(1000);
    expect(asked).toHaveLength(dueAfter);
    fail();
    expect(names()).toEqual(['ejected', 'healthy']);
    use(snapshotOf(TWO, { version: 3, timeout_ms: 7000 }));
    await pass(EJECTION_MS - 1000);
    expect(names()).toEqual(['ejected', 'healthy']);
    await pass(2000);
    expect(names()).toEqual(['half_open', 'healthy']);

    bad.add('http://a.test');
    use(snapshotOf(['http://a.test'], { version: 4 }));
    await pass(8000);
    expect(names()).toEqual(['unhealthy']);
    use({ ...snapshotOf([], { version: 5 }), services: [], routes: [] });
    const asksSoFar = asked.length;
    await pass(20_000);
    expect(asked).toHaveLength(asksSoFar);
    use(snapshotOf(['http://a.test'], { version: 6 }));
    expect(names()).toEqual(['unknown']);
  });

  it('takes over new settings of the checks without losing what it knows', async () => {
    const { use, pass, names, asked } = setUp();
    use(snapshotOf(TWO));
    await pass(1000);
    asked.length = 0;
    use(
      snapshotOf(TWO, {
        version: 2,
        check: { path: '/alive', interval_ms: 1000, timeout_ms: 300 },
      }),
    );
    expect(names()).toEqual(['healthy', 'healthy']);
    await pass(2100);
    expect(asked.length).toBeGreaterThanOrEqual(4);
    expect(new Set(asked)).toEqual(new Set(TWO.map((url) => `${url}/alive 300`)));
  });

  it('cuts a check short that hangs when it is to take less time, or its upstream is gone', async () => {
    const { use, pass, names, bad, asked, held, state } = setUp({ maxParallelChecks: 2 });
    state.holds = true;
    use(snapshotOf(TWO, { check: { interval_ms: 60_000, timeout_ms: 60_000 } }));
    await pass(1000);
    expect(held).toHaveLength(2);
    TWO.forEach((url) => bad.add(url));
    use(snapshotOf(TWO, { version: 2, check: { interval_ms: 1000, timeout_ms: 500 } }));
    expect(names()).toEqual(['unknown', 'unknown']);
    state.holds = false;
    await pass(1000);
    expect(names()).toEqual(['unhealthy', 'unhealthy']);
    expect(new Set(asked.slice(2))).toEqual(new Set(TWO.map((url) => `${url}/healthz 500`)));

    state.holds = true;
    await pass(1000);
    use(snapshotOf(['http://c.test'], { version: 3 }));
    state.holds = false;
    await pass(1000);
    expect(names()).toEqual(['healthy']);
  });

  it('ends at most half of a service’s upstreams, and has the others checked at once', async () => {
    const { use, pass, names, balancer, bad, asked } = setUp();
    const three = [...TWO, 'http://c.test'];
    use(snapshotOf(three));
    await pass(4000);
    three.forEach((url) => bad.add(url));
    asked.length = 0;
    for (let count = 0; count < CONSECUTIVE_FAILURES; count += 1) {
      for (const index of [0, 1, 2])
        balancer().ended(index, balancer().begin(index), 'unreachable');
    }
    expect(names()).toEqual(['ejected', 'healthy', 'healthy']);
    await pass(1200);
    expect(names()).toEqual(['unhealthy', 'unhealthy', 'unhealthy']);
    expect(asked.length).toBeLessThanOrEqual(9);
  });

  it('never ends the only upstream of a service', () => {
    const { use, names, balancer } = setUp();
    use(snapshotOf(['http://a.test']));
    for (let count = 0; count < 20; count += 1) balancer().ended(0, balancer().begin(0), 'bad');
    expect(names()).toEqual(['unknown']);
  });

  it('never has more checks under way than it may, and leaves none out', async () => {
    const { use, pass, held, state, asked, registry } = setUp({ maxParallelChecks: 4 });
    state.holds = true;
    const many = Array.from({ length: 20 }, (_, index) => `http://host${index}.test`);
    use(snapshotOf(many));
    await pass(1000);
    expect(held).toHaveLength(4);
    expect(await registry.metrics()).toContain('gateway_upstream_checks_waiting 16');
    await eventually(() => {
      for (const end of held.splice(0)) end();
      expect(new Set(asked).size).toBe(20);
    });
  });

  it('spreads the first checks of very many upstreams', async () => {
    const { use, pass, asked, health } = setUp({ maxParallelChecks: 1000 });
    const services = Array.from({ length: 100 }, (_, service) => ({
      ...{ id: `svc_${service}`, name: `s${service}`, revision: 1 },
      upstreams: Array.from({ length: 10 }, (_unused, index) => ({
        ...{ id: `ups_${service}_${index}`, url: `http://s${service}-${index}.test` },
        ...{ region: null, weight: 1 },
      })),
      health_check: {
        ...{ path: '/', interval_ms: INTERVAL_MS, timeout_ms: 1000 },
        ...{ healthy_threshold: 2, unhealthy_threshold: 3 },
      },
    }));
    use({ ...snapshotOf([]), services, routes: [] });
    await pass(300);
    // With the test's own random number all of them are due at half of the spread.
    expect(asked).toHaveLength(0);
    await pass(100);
    expect(asked).toHaveLength(1000);
    expect(Object.keys(health.report())).toHaveLength(100);
  });

  it('tells each service in the metrics and in the report, what fails first', async () => {
    const { use, pass, bad, registry, health } = setUp();
    bad.add('http://b.test');
    const snapshot = snapshotOf(TWO);
    const [service] = snapshot.services;
    if (service === undefined) throw new Error('the example is empty');
    const well = { ...service, id: 'svc_a', upstreams: service.upstreams.slice(0, 1) };
    use({ ...snapshot, services: [well, service] });
    await pass(8000);
    expect(Object.entries(health.report())).toEqual([
      ['svc_test', [1, 1, 0]],
      ['svc_a', [1, 0, 0]],
    ]);
    const metrics = await registry.metrics();
    expect(metrics).toContain('gateway_upstreams{health="healthy"} 2');
    expect(metrics).toContain('gateway_upstreams{health="unhealthy"} 1');
    expect(metrics).toContain('gateway_service_healthy_upstreams{service="svc_test"} 1');
    expect(metrics).toContain(
      'gateway_upstream_transitions_total{to="unhealthy",reason="checks_failed"} 1',
    );
  });
});
