import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import type { Snapshot } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath, type TestDataPath } from '../../../test/data-path.ts';
import { INITIAL_LIMIT } from './adaptive-limit.ts';

const opened = closeAfterEach();
const MORE = INITIAL_LIMIT + 10;

type CallInit = Parameters<TestDataPath['call']>[1];

/** A gateway to a service whose upstream keeps the responses until the test or its end releases them. */
async function setUp({
  adaptive = true,
  answer = undefined as ((response: ServerResponse) => void) | undefined,
} = {}) {
  const held: ServerResponse[] = [];
  const upstream = opened(
    await startUpstream((_seen, response) => {
      answer?.(response);
      held.push(response);
    }),
  );
  const snapshotOf = (version: number, isAdaptive: boolean, timeoutMs = 60_000): Snapshot => {
    const route = { upstreams: [upstream.url], timeout_ms: timeoutMs };
    const snapshot = testSnapshot(route, gateway.token);
    const services = snapshot.services.map((service) => {
      return { ...service, limits: { ...service.limits, adaptive: isAdaptive } };
    });
    return { ...snapshot, version, services };
  };
  const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
  await gateway.use(snapshotOf(2, adaptive));
  const release = () => {
    for (const response of held.splice(0)) response.end();
  };
  // Runs before the gateway stops, which would wait for them.
  opened({
    close() {
      release();
      return eventually(async () => expect(await gateway.inFlight()).toBe(0));
    },
  });
  /** Sends requests and waits until the upstream has them. */
  const hold = async (count: number, init: () => CallInit = () => ({})) => {
    const before = held.length;
    const calls = Array.from({ length: count }, () => gateway.call('test', init()));
    for (const call of calls) call.catch(() => undefined);
    await eventually(() => expect(held.length).toBe(before + count));
    return { calls };
  };
  const metric = async (name: string, labels: string) => {
    const text = await gateway.registry.getSingleMetricAsString(name);
    const row = text.split('\n').find((line) => line.startsWith(`${name}{${labels}}`));
    return row === undefined ? undefined : Number(row.split(' ').at(-1));
  };
  const waiting = () => metric('gateway_service_waiting_requests', 'service_id="svc_test"');
  return { gateway, release, hold, metric, waiting, snapshotOf };
}

describe('a service with limits.adaptive', () => {
  it('gets no more waiting requests than its limit; one more costs no quota and is counted', async () => {
    const { gateway, release, hold, metric, waiting } = await setUp();
    const { calls } = await hold(INITIAL_LIMIT);
    expect(await waiting()).toBe(INITIAL_LIMIT);
    const limit = await metric('gateway_service_adaptive_limit', 'service_id="svc_test"');
    expect(limit).toBe(INITIAL_LIMIT);

    const refused = await gateway.call('test');
    const error = await expectRefusal(refused, 503, 'upstream_overloaded');
    expect(error.message).toBe(
      `The service test is overloaded: its limit adaptive of ${INITIAL_LIMIT} is reached.`,
    );
    expect(refused.headers.get('retry-after')).toBe('1');
    const labels = 'service_id="svc_test",reason="adaptive"';
    expect(await metric('gateway_upstream_overloaded_total', labels)).toBe(1);

    release();
    await Promise.all(calls);
    expect(await waiting()).toBe(0);
    const { calls: later } = await hold(1);
    release();
    const remaining = (await later[0])?.headers.get('x-ratelimit-remaining');
    expect(Number(remaining)).toBe(1000 - INITIAL_LIMIT - 1);
  });

  it('counts requests until the head of their response, not during a long download', async () => {
    const { hold, waiting } = await setUp({ answer: (response) => response.flushHeaders() });
    // A few at a time, so that none is refused: a limit of which less than half is used stays as it is.
    for (let sent = 0; sent < MORE; sent += 10) {
      const { calls } = await hold(10);
      for (const call of calls) expect((await call).status).toBe(200);
      expect(await waiting()).toBe(0);
    }
  });

  it('does not count requests whose body streams, because that may be slow at the caller', async () => {
    const { release, hold, waiting } = await setUp();
    const upload = (): CallInit => {
      const body = new Blob(['a', 'body']).stream();
      return { method: 'POST', body, duplex: 'half' };
    };
    const { calls } = await hold(MORE, upload);
    expect(await waiting()).toBe(0);
    release();
    for (const call of calls) expect((await call).status).toBe(200);
  });

  it('has no request waiting any more after its caller left or its deadline passed', async () => {
    const { gateway, hold, waiting, snapshotOf } = await setUp();
    await gateway.use(snapshotOf(3, true, 300));
    const left = new AbortController();
    await hold(1, () => ({ signal: left.signal }));
    left.abort();
    await eventually(async () => expect(await waiting()).toBe(0));
    await expectRefusal(await gateway.call('test'), 504, 'upstream_timeout');
    expect(await waiting()).toBe(0);
  });

  it('keeps its limit when the configuration changes, and has none when it is switched off', async () => {
    const { gateway, hold, waiting, snapshotOf } = await setUp();
    await hold(INITIAL_LIMIT);
    await gateway.use(snapshotOf(3, true, 50_000));
    await expectRefusal(await gateway.call('test'), 503, 'upstream_overloaded');
    await gateway.use(snapshotOf(4, false));
    expect(await waiting()).toBeUndefined();
    await hold(1);
  });
});

describe('a service without limits.adaptive', () => {
  it('gets all requests', async () => {
    const { hold, waiting } = await setUp({ adaptive: false });
    await hold(MORE);
    expect(await waiting()).toBeUndefined();
  });
});
