import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import type { Snapshot, SnapshotRoute, SnapshotService } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { DEFAULT_LIMITS, testSnapshot } from '@gateway/shared/test/snapshot';
import { startUpstream } from '@gateway/shared/test/upstream';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath } from '../../test/data-path.ts';

const opened = closeAfterEach();

type Limits = Partial<SnapshotService['limits']>;

/**
 * A gateway with the routes `hung` and `sound` to a service each. The upstream of `hung` keeps its responses until the
 * test ends them.
 */
async function setUp(
  limits: Limits,
  route: Partial<SnapshotRoute> = {},
  environment: Readonly<Record<string, string>> = {},
  upstreams = 1,
) {
  const held: ServerResponse[] = [];
  const hung = await Promise.all(
    Array.from({ length: upstreams }, () =>
      startUpstream((_seen, response) => void held.push(response)),
    ),
  );
  const sound = opened(await startUpstream());
  for (const one of hung) opened(one);
  const token = createTokenSecret();
  const snapshot = snapshotOf({
    limits,
    token,
    hung: hung.map(({ url }) => url),
    route,
    sound: sound.url,
  });
  const gateway = opened(
    await startTestDataPath({ upstreams: [] }, { snapshots: [snapshot], environment }),
  );
  // Runs before the gateway stops, which would wait for them.
  opened({
    close() {
      for (const response of held) response.end();
      return eventually(async () => expect(await gateway.inFlight()).toBe(0));
    },
  });
  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${gateway.url}/v1/proxy/${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
    });
  /** Starts requests to `hung`; they end when the test ends. */
  const start = (count: number, init: RequestInit = {}) =>
    Promise.all(Array.from({ length: count }, () => call('hung', init).catch(() => undefined)));
  const use = (changed: Limits) =>
    gateway.use({
      ...snapshotOf({
        limits: changed,
        token,
        hung: hung.map(({ url }) => url),
        route,
        sound: sound.url,
      }),
      version: 2,
    });
  return { gateway, call, start, held, hung, use };
}

function snapshotOf(given: {
  readonly limits: Limits;
  readonly token: string;
  readonly hung: readonly string[];
  readonly route: Partial<SnapshotRoute>;
  readonly sound: string;
}): Snapshot {
  const hung = testSnapshot({ upstreams: given.hung, name: 'hung', ...given.route }, given.token);
  const sound = testSnapshot({ upstreams: [given.sound], name: 'sound' }, given.token);
  return {
    ...hung,
    services: [
      ...hung.services.map((service) => ({
        ...service,
        name: 'payments',
        limits: { ...DEFAULT_LIMITS, ...given.limits },
      })),
      ...sound.services.map((service) => ({ ...service, id: 'svc_sound', name: 'sound' })),
    ],
    routes: [
      ...hung.routes.map((route) => ({ ...route, timeout_ms: 60_000 })),
      ...sound.routes.map((route) => ({
        ...route,
        id: 'rte_sound',
        versions: [{ name: null, service_id: 'svc_sound', weight: 1 }],
      })),
    ],
  };
}

const metric = async (registry: { getSingleMetricAsString(name: string): Promise<string> }) =>
  (await registry.getSingleMetricAsString('gateway_upstream_overloaded_total'))
    .split('\n')
    .filter((line) => line.startsWith('gateway'));

/** A request with a key is refused while the service is full, and runs with the same key when it is not. */
async function refuseAndRepeat({ call, start, held }: Awaited<ReturnType<typeof setUp>>) {
  const first = start(1);
  await eventually(() => expect(held.length).toBe(1));
  const keyed = { method: 'POST', body: 'x', headers: { 'idempotency-key': 'k1' } };
  await expectRefusal(await call('hung', keyed), 503, 'upstream_overloaded');
  held.splice(0)[0]?.end();
  await first;
  const again = call('hung', keyed);
  await eventually(() => expect(held.length).toBe(1));
  held.splice(0)[0]?.end('ran');
  expect(await (await again).text()).toBe('ran');
}

describe('max_in_flight of a service', () => {
  it('refuses further requests at once, names the service and the limit, and uses no quota', async () => {
    const { gateway, call, start, held, hung } = await setUp({ max_in_flight: 2 });
    const calls = start(2);
    await eventually(() => expect(held.length).toBe(2));
    const refused = await call('hung');
    const error = await expectRefusal(refused, 503, 'upstream_overloaded');
    expect(error.message).toBe(
      'The service payments is overloaded: its limit max_in_flight of 2 is reached.',
    );
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await gateway.recordOf(refused)).toMatchObject({
      status: 503,
      outcome: 'rejected',
      error_code: 'upstream_overloaded',
      service_id: 'svc_test',
      upstream: null,
      attempts: [],
    });
    expect(await metric(gateway.registry)).toEqual([
      'gateway_upstream_overloaded_total{service_id="svc_test",reason="max_in_flight"} 1',
    ]);
    expect((await call('sound')).status).toBe(200);
    expect(hung[0]?.seen).toHaveLength(2);
    for (const response of held.splice(0)) response.end();
    await calls;
    const next = call('hung');
    await eventually(() => expect(held.length).toBe(1));
    held[0]?.end();
    // Only the requests that were sent have used the quota.
    expect((await next).headers.get('x-ratelimit-remaining')).toBe('997');
  });

  it('is by default half of the slots, so a hung service never stops a sound one', async () => {
    const { call, start, held } = await setUp({}, {}, { MAX_IN_FLIGHT_REQUESTS: '20' });
    void start(10);
    await eventually(() => expect(held.length).toBe(10));
    const error = await expectRefusal(await call('hung'), 503, 'upstream_overloaded');
    expect(error.message).toContain('max_in_flight of 10');
    for (let again = 0; again < 5; again += 1) {
      const calls = await Promise.all(Array.from({ length: 2 }, () => call('sound')));
      expect(calls.map(({ status }) => status)).toEqual([200, 200]);
    }
  });

  it('follows a new configuration while requests are in flight', async () => {
    const { call, start, held, use } = await setUp({ max_in_flight: 1 });
    void start(1);
    await eventually(() => expect(held.length).toBe(1));
    await expectRefusal(await call('hung'), 503, 'upstream_overloaded');
    await use({ max_in_flight: 2 });
    void start(1);
    await eventually(() => expect(held.length).toBe(2));
    await use({ max_in_flight: 1 });
    await expectRefusal(await call('hung'), 503, 'upstream_overloaded');
  });

  it('leaves the idempotency key of a refused request free', async () => {
    await refuseAndRepeat(await setUp({ max_in_flight: 1 }));
  });
});

describe('max_connections and max_pending of a service', () => {
  it('bound the connections and the requests that wait for one', async () => {
    const { gateway, call, start, held, hung } = await setUp({
      max_connections: 2,
      max_pending: 3,
    });
    void start(5);
    await eventually(async () => expect(await gateway.inFlight()).toBe(5));
    await eventually(() => expect(held.length).toBe(2));
    const refused = await call('hung');
    const error = await expectRefusal(refused, 503, 'upstream_overloaded');
    expect(error.message).toBe(
      'The service payments is overloaded: its limit max_pending of 3 is reached, and its limit max_connections of 2.',
    );
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await gateway.recordOf(refused)).toMatchObject({
      error_code: 'upstream_overloaded',
      outcome: 'rejected',
      retry_count: 0,
      attempts: [{ upstream: 'ups_0', error: 'max_pending' }],
    });
    expect(await metric(gateway.registry)).toEqual([
      'gateway_upstream_overloaded_total{service_id="svc_test",reason="max_pending"} 1',
    ]);
    // Those that waited are sent when a connection is free.
    for (let sent = 2; sent < 5; sent += 1) {
      held.splice(0, 1)[0]?.end();
      await eventually(() => expect(hung[0]?.seen).toHaveLength(sent + 1));
    }
  });

  it('of 0 let no request wait, and still use every connection', async () => {
    const { call, start, held } = await setUp({ max_connections: 2, max_pending: 0 });
    for (let again = 0; again < 3; again += 1) {
      const calls = start(2);
      await eventually(() => expect(held.length).toBe(2));
      await expectRefusal(await call('hung'), 503, 'upstream_overloaded');
      for (const response of held.splice(0)) response.end();
      await calls;
    }
  });

  it('above MAX_UPSTREAM_CONNECTIONS count as that setting, and the refusal says so', async () => {
    const { call, start, held } = await setUp(
      { max_connections: 60_000, max_pending: 0 },
      {},
      { MAX_UPSTREAM_CONNECTIONS: '2' },
    );
    void start(2);
    await eventually(() => expect(held.length).toBe(2));
    const error = await expectRefusal(await call('hung'), 503, 'upstream_overloaded');
    expect(error.message).toBe(
      'The service payments is overloaded: its limit max_pending of 0 is reached, and its limit max_connections of 2.',
    );
  });

  it('do not retry on another upstream of the service', async () => {
    const { gateway, call, start, held } = await setUp(
      { max_connections: 1, max_pending: 0 },
      {},
      {},
      2,
    );
    void start(1);
    await eventually(() => expect(held.length).toBe(1));
    // The choice prefers the upstream with less in flight, so the second request fills the other one.
    void start(1);
    await eventually(() => expect(held.length).toBe(2));
    const refused = await call('hung');
    await expectRefusal(refused, 503, 'upstream_overloaded');
    const { attempts } = await gateway.recordOf(refused);
    const retry = { retried: false, why: 'service_overloaded' };
    expect(attempts).toMatchObject([{ error: 'max_pending', retry }]);
  });

  it('do not hide that an earlier attempt was sent', async () => {
    const { call, held } = await setUp({ max_connections: 1, max_pending: 0 }, {}, {}, 2);
    const calls = [call('hung')];
    await eventually(() => expect(held.length).toBe(1));
    calls.push(call('hung'));
    await eventually(() => expect(held.length).toBe(2));
    // Its retry finds the queue of the other upstream full.
    held.shift()?.destroy();
    const cutOff = await Promise.race(calls);
    const error = await expectRefusal(cutOff, 502, 'upstream_unavailable');
    expect(error.message).toContain('not retried: The service payments is overloaded');
    held.shift()?.end();
    expect((await Promise.all(calls)).map(({ status }) => status).toSorted()).toEqual([200, 502]);
  });

  it('do not count as a failure of the upstream', async () => {
    const { gateway, call, start, held } = await setUp({ max_connections: 1, max_pending: 0 });
    void start(1);
    await eventually(() => expect(held.length).toBe(1));
    for (let again = 0; again < 10; again += 1) {
      await expectRefusal(await call('hung'), 503, 'upstream_overloaded');
    }
    const text = await gateway.registry.getSingleMetricAsString('gateway_upstreams');
    expect(text).toContain('gateway_upstreams{health="ejected"} 0');
  });

  it('free the idempotency key of a refused request', async () => {
    await refuseAndRepeat(await setUp({ max_connections: 1, max_pending: 0 }));
  });
});
