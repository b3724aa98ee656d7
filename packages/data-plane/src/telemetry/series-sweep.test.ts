import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { withCoarseTimers } from '../timers/coarse-timers.ts';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startUpstream } from '@gateway/shared/test/upstream';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath } from '../../test/data-path.ts';
import { EMPTY_TABLE } from '../routing-table/routing-table.ts';
import { LiveNames } from './live-names.ts';
import { startSeriesSweep, SWEEP_MS } from './series-sweep.ts';

const opened = closeAfterEach();

/** A data path with two services and a route to each, whose sweeps the test makes. */
async function setUp() {
  const held: (() => void)[] = [];
  const upstream = opened(
    await startUpstream((seen, response) => {
      if (seen.url.endsWith('/held')) held.push(() => void response.end('held'));
      else response.end('ok');
    }),
  );
  const token = createTokenSecret();
  const base = testSnapshot({ upstreams: [upstream.url], retry_count: 0 }, token);
  const [service] = base.services;
  const [route] = base.routes;
  if (service === undefined || route === undefined) throw new Error('the snapshot is empty');
  const limits = { max_in_flight: 1, max_connections: null, max_pending: null, adaptive: false };
  const versionsOf = (service_id: string) => [{ name: null, service_id, weight: 1 }];
  const both = {
    ...base,
    services: [service, { ...service, id: 'svc_gone', name: 'gone', limits }],
    routes: [route, { ...route, id: 'rte_gone', name: 'gone', versions: versionsOf('svc_gone') }],
  };
  const one = { ...base, version: 2 };
  let sweep: () => void = () => undefined;
  const real = withCoarseTimers(systemClock, 5);
  const clock: typeof real = {
    ...real,
    setTimer(delayMs, callback) {
      if (delayMs !== SWEEP_MS) return real.setTimer(delayMs, callback);
      sweep = callback;
      return { cancel: () => undefined };
    },
  };
  const gateway = opened(
    await startTestDataPath({ upstreams: [] }, { snapshots: [both], healthClock: clock }),
  );
  const headers = { authorization: `Bearer ${token}` };
  const send = async (path: string) => {
    const response = await fetch(`${gateway.url}/v1/proxy/${path}`, { headers });
    await response.text();
    await gateway.recordOf(response);
    return response.status;
  };
  const seriesOfGone = async () => {
    const lines = (await gateway.registry.metrics()).split('\n');
    return lines.filter((line) => /"(?:svc_)?gone"/.test(line));
  };
  return { gateway, both, one, send, seriesOfGone, held, sweep: () => sweep() };
}

describe('the series of a deleted route and its service', () => {
  it('end within two sweeps of the deletion, and those of others stay', async () => {
    const { gateway, one, send, seriesOfGone, held, sweep } = await setUp();
    const slow = send('gone/held');
    while (held.length === 0) await new Promise(setImmediate);
    // Refused at the limit of the service.
    expect([await send('gone/a'), await send('test/a')]).toEqual([503, 200]);
    held.pop()?.();
    await slow;
    const names = new Set((await seriesOfGone()).map((line) => line.slice(0, line.indexOf('{'))));
    expect([...names].sort()).toEqual([
      'gateway_request_duration_seconds_bucket',
      'gateway_request_duration_seconds_count',
      'gateway_request_duration_seconds_sum',
      'gateway_requests_total',
      'gateway_service_healthy_upstreams',
      'gateway_service_info',
      'gateway_time_to_first_byte_seconds_bucket',
      'gateway_time_to_first_byte_seconds_count',
      'gateway_time_to_first_byte_seconds_sum',
      'gateway_upstream_attempt_seconds_bucket',
      'gateway_upstream_attempt_seconds_count',
      'gateway_upstream_attempt_seconds_sum',
      'gateway_upstream_attempts_total',
      'gateway_upstream_overloaded_total',
    ]);
    sweep();
    sweep();
    expect(await seriesOfGone()).not.toEqual([]);
    await gateway.use(one);
    sweep();
    // A scrape between two sweeps still sees the last values.
    expect((await seriesOfGone()).join('\n')).toContain('gateway_requests_total');
    sweep();
    expect(await seriesOfGone()).toEqual([]);
    await send('test/b');
    const requests = await gateway.registry.getSingleMetricAsString('gateway_requests_total');
    expect(requests).toMatch(/route="test",.*status="200".* 2$/m);
    expect(2 * SWEEP_MS).toBeLessThan(60_000);
  });

  it('end again if a request that began before the deletion ends after it', async () => {
    const { gateway, one, send, seriesOfGone, held, sweep } = await setUp();
    const slow = send('gone/held');
    while (held.length === 0) await new Promise(setImmediate);
    await gateway.use(one);
    sweep();
    sweep();
    held.pop()?.();
    expect(await slow).toBe(200);
    expect(await seriesOfGone()).not.toEqual([]);
    sweep();
    sweep();
    expect(await seriesOfGone()).toEqual([]);
  });

  it('begin anew if the names return, and stay if they return at once', async () => {
    const { gateway, both, one, send, seriesOfGone, sweep } = await setUp();
    // Whether the upstream that came back was checked by now is another matter.
    const counted = async () => {
      const lines = await seriesOfGone();
      return lines.filter((line) => !line.startsWith('gateway_service_healthy_upstreams'));
    };
    await send('gone/a');
    const before = await counted();
    await gateway.use(one);
    sweep();
    await gateway.use({ ...both, version: 3 });
    sweep();
    sweep();
    expect(await counted()).toEqual(before);
    await gateway.use({ ...one, version: 4 });
    sweep();
    sweep();
    await gateway.use({ ...both, version: 5 });
    await send('gone/b');
    const requests = await gateway.registry.getSingleMetricAsString('gateway_requests_total');
    expect(requests).toMatch(/route="gone",.* 1$/m);
  });
});

it('an environment named other has no series once its names are gone, unlike the rows beyond a bound', () => {
  const live = new LiveNames(EMPTY_TABLE);
  expect(live.hasRoute('other', 'orders')).toBe(false);
  expect(live.hasVersion('other', 'orders', 'orders', '')).toBe(false);
  expect(live.hasServiceVersion('other', 'orders', '')).toBe(false);
  expect(live.hasVersion('other', 'other', '', '')).toBe(true);
  expect(live.hasVersion('other', 'other', 'other', 'other')).toBe(true);
  expect(live.hasServiceVersion('other', 'other', 'other')).toBe(true);
});

it('the rest of a sweep is made in later turns of the event loop, and none after the stop', async () => {
  const clock = manualClock();
  let slices = 0;
  const sweep = startSeriesSweep(clock, () => EMPTY_TABLE, [
    function* () {
      for (;;) {
        slices += 1;
        yield;
      }
    },
  ]);
  clock.advance(SWEEP_MS);
  expect(slices).toBe(1);
  await new Promise(setImmediate);
  expect(slices).toBe(2);
  sweep.stop();
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(slices).toBe(2);
});
