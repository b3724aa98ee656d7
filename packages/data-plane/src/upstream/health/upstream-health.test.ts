import { DEFAULT_LIMITS } from '@gateway/shared/test/snapshot';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { INTERVAL_MS, openHealthWorld, snapshotOf } from '../../../test/health-world.ts';
import { CONSECUTIVE_FAILURES, EJECTION_MS } from './ejection.ts';
import { HEALTH_AFTER } from './upstream-state.ts';

const TWO = ['http://a.test', 'http://b.test'];

describe('the health of upstreams', () => {
  it('is checked soon, then at every interval, which is shortened a little', async () => {
    const { use, pass, names, asked } = openHealthWorld();
    use(snapshotOf(TWO));
    expect(names()).toEqual(['unknown', 'unknown']);
    await pass(250);
    expect(names()).toEqual(['healthy', 'healthy']);
    expect(asked.toSorted()).toEqual(TWO.map((url) => `${url}/healthz 2000`));
    await pass(20_000);
    expect(asked.length).toBeGreaterThanOrEqual(2 * 5);
    expect(asked.length).toBeLessThanOrEqual(2 * 6);
  });

  it('confirms a first bad check soon: an upstream that is down is unhealthy within 1.5 intervals', async () => {
    const { use, pass, names, bad, lines, state } = openHealthWorld();
    use(snapshotOf(TWO));
    await pass(1000);
    bad.add('http://b.test');
    await pass(1.5 * INTERVAL_MS);
    expect(names()).toEqual(['healthy', 'unhealthy']);
    bad.clear();
    await pass(1.6 * INTERVAL_MS);
    expect(names()).toEqual(['healthy', 'healthy']);
    const logged = lines.filter(({ msg }) => msg === 'upstream health changed');
    expect(logged.map((line) => line as object)).toMatchObject([
      { upstream: 'ups_0', from: 'unknown', to: 'healthy', reason: 'check_passed' },
      { upstream: 'ups_1', from: 'unknown', to: 'healthy', reason: 'check_passed' },
      { upstream: 'ups_1', from: 'healthy', to: 'unhealthy', reason: 'checks_failed' },
      { upstream: 'ups_1', from: 'unhealthy', to: 'healthy', reason: 'check_passed' },
    ]);
    expect(logged.every((line) => 'service' in line && line.service === 'svc_test')).toBe(true);
    expect(state.changes).toBe(4);
  });

  it('says of an upstream that stays unhealthy what its checks fail with now, and since when it is so', async () => {
    const [url] = TWO as [string];
    const { use, pass, bad, hung, health, state, clock } = openHealthWorld();
    use(snapshotOf([url]));
    bad.add(url);
    await pass(2 * INTERVAL_MS);
    const reasons = () => health.reportUpstreams().upstream_reasons;
    const [before] = reasons();
    expect(before).toMatchObject({ reason: 'checks_failed', detail: 'status_200', failures: 3 });
    expect(before?.since_ms).toBeLessThan(clock.nowMs());
    bad.clear();
    hung.add(url);
    await pass(2 * INTERVAL_MS);
    const [after] = reasons();
    expect(after).toMatchObject({ ...before, detail: 'timeout', failures: expect.any(Number) });
    expect(after?.failures).toBeGreaterThan(3);
    // It is no change of its health.
    expect(state.changes).toBe(1);
  });

  it('confirms a hang by short checks: the upstream is unhealthy within a second of the first timeout', async () => {
    const { use, pass, names, balancer, hung, asked } = openHealthWorld();
    use(snapshotOf(TWO, { check: { interval_ms: 60_000 } }));
    await pass(1000);
    hung.add('http://b.test');
    asked.length = 0;
    balancer().ended(1, balancer().begin(1), 'timed_out');
    expect(names()).toEqual(['healthy', 'healthy']);
    await pass(1000, 10);
    expect(names()).toEqual(['healthy', 'unhealthy']);
    expect(asked).toEqual(Array(3).fill('http://b.test/healthz 266'));
  });

  it('is not changed by timeouts after too little time; they only start the short checks', async () => {
    const { use, pass, names, balancer, hung, asked } = openHealthWorld();
    use(snapshotOf(TWO, { check: { interval_ms: 60_000 } }));
    await pass(1000);
    asked.length = 0;
    const timeouts = () => {
      for (let count = 0; count < 2 * CONSECUTIVE_FAILURES; count += 1) {
        balancer().ended(1, balancer().begin(1), 'maybe_hung');
      }
    };
    timeouts();
    await pass(1000, 10);
    expect(names()).toEqual(['healthy', 'healthy']);
    expect(asked).toEqual(['http://b.test/healthz 266']);
    hung.add('http://b.test');
    timeouts();
    await pass(1000, 10);
    expect(names()).toEqual(['healthy', 'unhealthy']);
  });

  it.each(['maybe_hung', 'timed_out'] as const)(
    'is checked to the end while some requests are answered and others are not: %s',
    async (verdict) => {
      const { use, pass, names, balancer, hung } = openHealthWorld();
      use(snapshotOf(TWO));
      await pass(INTERVAL_MS);
      expect(names()).toEqual(['healthy', 'healthy']);
      // Its health path fails, as that of a server that is to get no more requests.
      hung.add('http://b.test');
      for (let count = 0; count < 200; count += 1) {
        balancer().ended(1, balancer().begin(1), count % 2 === 0 ? verdict : 'good');
        await pass(100);
      }
      expect(names()).toEqual(['healthy', 'unhealthy']);
    },
  );

  it('takes an upstream that answers its checks slowly for hung only after a longer time', async () => {
    const { use, pass, balancer } = openHealthWorld();
    use(snapshotOf(TWO));
    expect(balancer().shortCheckMs(0)).toBe(2000);
    await pass(1000);
    expect(balancer().shortCheckMs(0)).toBe(266);
    const [state] = balancer().states;
    if (state !== undefined) state.lastGoodCheckMs = 200;
    expect(balancer().shortCheckMs(0)).toBe(800);
  });

  it('is checked although other checks failed unexpectedly, which is logged and counted', async () => {
    const { use, pass, names, failing, asked, lines, registry } = openHealthWorld({
      maxParallelChecks: 1,
    });
    failing.add('http://a.test');
    use(snapshotOf(TWO));
    await pass(3 * INTERVAL_MS);
    expect(names()).toEqual(['unknown', 'healthy']);
    expect(asked.filter((check) => check.startsWith('http://a')).length).toBeGreaterThan(1);
    const logged = lines.filter(({ msg }) => msg === 'health check failed unexpectedly');
    expect(logged).toHaveLength(1);
    const notMade = /gateway_upstream_checks_total\{result="not_made"\} [1-9]/;
    expect(await registry.metrics()).toMatch(notMade);
    failing.clear();
    await pass(INTERVAL_MS);
    expect(names()).toEqual(['healthy', 'healthy']);
  });

  it('keeps every counter and timer when a route changes, and forgets removed upstreams', async () => {
    const { use, pass, names, balancer, bad, asked } = openHealthWorld();
    use(snapshotOf(TWO));
    await pass(1000);
    const fail = () => balancer().ended(0, balancer().begin(0), 'bad');
    for (let count = 1; count < CONSECUTIVE_FAILURES; count += 1) fail();
    const checksBefore = asked.length;
    use(snapshotOf(TWO, { version: 2, timeout_ms: 6000 }));
    await pass(1000);
    expect(asked).toHaveLength(checksBefore);
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
    const checksSoFar = asked.length;
    await pass(20_000);
    expect(asked).toHaveLength(checksSoFar);
    use(snapshotOf(['http://a.test'], { version: 6 }));
    expect(names()).toEqual(['unknown']);
  });

  it('uses new settings of the checks and keeps the health', async () => {
    const { use, pass, names, asked } = openHealthWorld();
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

  it('cancels a check that hangs if the timeout becomes shorter or the upstream is removed', async () => {
    const { use, pass, names, bad, asked, held, state } = openHealthWorld({ maxParallelChecks: 2 });
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

  it('returns after an ejection by good checks if there are no requests, and is idle until one succeeds', async () => {
    const { use, pass, names, balancer, health, clock } = openHealthWorld();
    use(snapshotOf(TWO));
    await pass(1000);
    for (let count = 0; count < CONSECUTIVE_FAILURES; count += 1) {
      balancer().ended(0, balancer().begin(0), 'bad', 'status_503');
    }
    const ejectedMs = clock.nowMs();
    expect(health.reportUpstreams()).toEqual({
      upstream_states: [['ups_0', 'ejected']],
      upstream_reasons: [
        {
          id: 'ups_0',
          since_ms: ejectedMs,
          reason: 'consecutive_failures',
          detail: 'status_503',
          failures: CONSECUTIVE_FAILURES,
        },
      ],
    });
    await pass(EJECTION_MS);
    expect(names()).toEqual(['half_open', 'healthy']);
    expect(health.reportUpstreams().upstream_reasons).toEqual([
      { id: 'ups_0', since_ms: ejectedMs + EJECTION_MS, reason: 'ejection_over' },
    ]);
    await pass(2 * INTERVAL_MS);
    expect(names()).toEqual(['healthy', 'healthy']);
    expect(health.reportUpstreams()).toMatchObject({
      upstream_states: [],
      upstream_reasons: [{ id: 'ups_0', reason: 'idle' }],
    });
    balancer().ended(0, balancer().begin(0), 'good');
    expect(health.reportUpstreams()).toEqual({ upstream_states: [], upstream_reasons: [] });
  });

  it('ejects at most half of the upstreams of a service, and checks the others at once', async () => {
    const { use, pass, names, balancer, bad, asked } = openHealthWorld();
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

  it('never ejects the only upstream of a service', () => {
    const { use, names, balancer } = openHealthWorld();
    use(snapshotOf(['http://a.test']));
    for (let count = 0; count < 20; count += 1) balancer().ended(0, balancer().begin(0), 'bad');
    expect(names()).toEqual(['unknown']);
  });

  it('never runs more checks at one time than allowed, and leaves none out', async () => {
    const { use, pass, held, state, asked, registry } = openHealthWorld({ maxParallelChecks: 4 });
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
    const { use, pass, asked, health } = openHealthWorld({ maxParallelChecks: 1000 });
    const services = Array.from({ length: 100 }, (_, service) => ({
      id: `svc_${service}`,
      name: `s${service}`,
      revision: 1,
      upstreams: Array.from({ length: 10 }, (_unused, index) => ({
        id: `ups_${service}_${index}`,
        url: `http://s${service}-${index}.test`,
        region: null,
        weight: 1,
      })),
      health_check: {
        type: 'http' as const,
        grpc_service: '',
        path: '/',
        interval_ms: INTERVAL_MS,
        timeout_ms: 1000,
        healthy_threshold: 2,
        unhealthy_threshold: 3,
      },
      protocol: 'http1' as const,
      websocket_protocol: 'http1' as const,
      send_via: false,
      limits: DEFAULT_LIMITS,
    }));
    use({ ...snapshotOf([]), services, routes: [] });
    await pass(300);
    // With the random number of the test all of them are due at half of the spread.
    expect(asked).toHaveLength(0);
    await pass(100);
    expect(asked).toHaveLength(1000);
    expect(Object.keys(health.report())).toHaveLength(100);
  });

  it('counts each change of health from 0, so that a rate shows the first one', async () => {
    const metrics = await openHealthWorld().registry.metrics();
    for (const [reason, names] of Object.entries(HEALTH_AFTER)) {
      for (const to of names) {
        const labels = `to="${to}",reason="${reason}"`;
        expect(metrics).toContain(`gateway_upstream_transitions_total{${labels}} 0`);
      }
    }
  });

  it('shows each service in the metrics and in the report, failing services first', async () => {
    const { use, pass, bad, registry, health } = openHealthWorld();
    bad.add('http://b.test');
    const snapshot = snapshotOf(TWO);
    const [service] = snapshot.services;
    if (service === undefined) throw new Error('the example is empty');
    const healthy = { ...service, id: 'svc_a', upstreams: service.upstreams.slice(0, 1) };
    use({ ...snapshot, services: [healthy, service] });
    await pass(8000);
    expect(Object.entries(health.report())).toEqual([
      ['svc_test', [1, 1, 0]],
      ['svc_a', [1, 0, 0]],
    ]);
    const failing = service.upstreams.find(({ url }) => url === 'http://b.test');
    expect(health.reportUpstreams()).toMatchObject({
      upstream_states: [[failing?.id, 'unhealthy']],
      upstream_reasons: [
        {
          id: failing?.id,
          reason: 'checks_failed',
          detail: 'status_200',
          failures: 3,
        },
      ],
    });
    const metrics = await registry.metrics();
    expect(metrics).toContain('gateway_upstreams{health="healthy"} 2');
    expect(metrics).toContain('gateway_upstreams{health="unhealthy"} 1');
    expect(metrics).toContain('gateway_service_healthy_upstreams{service_id="svc_test"} 1');
    expect(metrics).toContain(
      'gateway_upstream_transitions_total{to="unhealthy",reason="checks_failed"} 1',
    );
  });
});
