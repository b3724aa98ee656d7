import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { withCoarseTimers } from '../timers/coarse-timers.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath, type TestDataPath } from '../../test/data-path.ts';

const opened = closeAfterEach();

/** A route `test` whose version `stable` answers 200 and whose version `canary` answers 500, and a route without versions. */
async function openSplit() {
  const stable = opened(await startUpstream((_seen, response) => void response.end('ok')));
  const canary = opened(
    await startUpstream((_seen, response) => void response.writeHead(500).end()),
  );
  const token = createTokenSecret();
  const base = testSnapshot({ upstreams: [stable.url], retry_count: 0 }, token);
  const [service] = base.services;
  const [route] = base.routes;
  if (service === undefined || route === undefined) throw new Error('the snapshot is empty');
  const upstreams = [{ id: 'ups_c', url: canary.url, region: null, weight: 1 }];
  const snapshot = {
    ...base,
    services: [service, { ...service, id: 'svc_canary', name: 'test-next', upstreams }],
    routes: [
      {
        ...route,
        versions: [
          { name: 'stable', service_id: 'svc_test', weight: 1 },
          { name: 'canary', service_id: 'svc_canary', weight: 0 },
        ],
      },
      { ...route, id: 'rte_plain', name: 'plain', rate_limit: { ...route.rate_limit, limit: 1 } },
    ],
  };
  const gateway = opened(
    await startTestDataPath({ upstreams: [stable.url] }, { snapshots: [snapshot] }),
  );
  const send = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${gateway.url}/v1/proxy/${path}`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
    await response.text();
    await gateway.recordOf(response);
    return response;
  };
  return { gateway, send };
}

/** The values of the series of a metric, by their labels as Prometheus reads them. */
async function series({ registry }: TestDataPath, metric: string, suffix = '') {
  const text = await registry.getSingleMetricAsString(metric);
  const lines = [...text.matchAll(/^(\w+)\{(.*)\} (\S+)$/gm)];
  return Object.fromEntries(
    lines
      .filter(([, name]) => name === `${metric}${suffix}`)
      .map(([, , labels = '', value]) => [labels, Number(value)]),
  );
}

describe('the metrics of requests', () => {
  it('distinguish the versions of a route and name their services', async () => {
    const { gateway, send } = await openSplit();
    await send('test/a');
    await send('test/b');
    await send('test/c', { 'x-gateway-version': 'canary' });
    await send('plain');
    const route = 'environment="production",route="test"';
    const stable = `${route},service="test",version="stable"`;
    const canary = `${route},service="test-next",version="canary"`;
    const plain = 'environment="production",route="plain",service="test",version=""';
    expect(await series(gateway, 'gateway_requests_total')).toEqual({
      [`${stable},status="200",outcome="success",code=""`]: 2,
      [`${canary},status="500",outcome="upstream_error",code=""`]: 1,
      [`${plain},status="200",outcome="success",code=""`]: 1,
    });
    expect(await series(gateway, 'gateway_time_to_first_byte_seconds', '_count')).toEqual({
      [stable]: 2,
      [canary]: 1,
      [plain]: 1,
    });
    expect(await series(gateway, 'gateway_request_duration_seconds', '_count')).toEqual({
      [route]: 3,
      'environment="production",route="plain"': 1,
    });
    const of = (service: string, version: string) =>
      `environment="production",service="${service}",version="${version}"`;
    expect(await series(gateway, 'gateway_upstream_attempt_seconds', '_count')).toEqual({
      [of('test', 'stable')]: 2,
      [of('test-next', 'canary')]: 1,
      [of('test', '')]: 1,
    });
    expect(await series(gateway, 'gateway_upstream_attempts_total')).toEqual({
      'service_id="svc_test",result="200"': 3,
      'service_id="svc_canary",result="500"': 1,
    });
  });

  it('count refusals, without a version before one is chosen, and without a time to the first byte', async () => {
    const { gateway, send } = await openSplit();
    await send('test', { authorization: 'Bearer wrong' });
    await send('unknown');
    await send('plain');
    await send('plain');
    const plain = 'environment="production",route="plain",service="test",version=""';
    expect(await series(gateway, 'gateway_requests_total')).toEqual({
      'environment="production",route="test",service="",version="",status="401",outcome="rejected",code="authentication_failed"': 1,
      'environment="other",route="other",service="",version="",status="404",outcome="rejected",code="route_not_found"': 1,
      [`${plain},status="200",outcome="success",code=""`]: 1,
      [`${plain},status="429",outcome="rejected",code="rate_limit_exceeded"`]: 1,
    });
    expect(await series(gateway, 'gateway_time_to_first_byte_seconds', '_count')).toEqual({
      [plain]: 1,
    });
  });

  it('observe each attempt of a request that is retried', async () => {
    let calls = 0;
    const upstream = opened(
      await startUpstream((_seen, response) => {
        calls += 1;
        response.writeHead(calls === 1 ? 503 : 200).end();
      }),
    );
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url], retry_count: 1 }));
    const response = await gateway.call('test');
    await response.text();
    await gateway.recordOf(response);
    const labels = 'environment="production",service="test",version=""';
    expect(await series(gateway, 'gateway_upstream_attempt_seconds', '_count')).toEqual({
      [labels]: 2,
    });
    expect(await series(gateway, 'gateway_upstream_attempts_total')).toEqual({
      'service_id="svc_test",result="503"': 1,
      'service_id="svc_test",result="200"': 1,
    });
  });

  it('measure the time to the first byte, not that of the whole response', async () => {
    let aheadMs = 0;
    const system = withCoarseTimers(systemClock, 5);
    const clock = { ...system, monotonicMs: () => system.monotonicMs() + aheadMs };
    const held: (() => unknown)[] = [];
    const upstream = opened(
      await startRawUpstream((socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\na');
        held.push(() => socket.write('b'));
      }),
    );
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }, { clock }));
    const response = await gateway.call('test');
    aheadMs = 1000;
    for (const send of held) send();
    expect(await response.text()).toBe('ab');
    await gateway.recordOf(response);
    const secondsOf = async (metric: string) =>
      Object.values(await series(gateway, metric, '_sum'))[0];
    expect(await secondsOf('gateway_request_duration_seconds')).toBeGreaterThanOrEqual(1);
    expect(await secondsOf('gateway_time_to_first_byte_seconds')).toBeLessThan(1);
  });
});

it('gateway_service_info names the service of each id', async () => {
  const { gateway } = await openSplit();
  expect(await series(gateway, 'gateway_service_info')).toEqual({
    'service_id="svc_test",name="test",environment="production"': 1,
    'service_id="svc_canary",name="test-next",environment="production"': 1,
  });
});
