import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { eventually } from '@gateway/shared/test/eventually';
import { FaultyIdempotencyStore } from '../../test/idempotency/faulty-store.ts';
import { MemoryIdempotencyStore } from '../../test/idempotency/memory-store.ts';
import { startTestDataPath } from '../../test/data-path.ts';
import { testSnapshot, testToken } from '@gateway/shared/test/snapshot';
import { openGateway, postKeyed, startCountingUpstream } from '../../test/keyed-request.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
/** Shorter than the lease of a key. */
const WAITED_MS = 6000;

const open = async (...args: Parameters<typeof openGateway>) => opened(await openGateway(...args));

/** The parts of a response that a replay must repeat. */
async function given(response: Response) {
  const own = /^(?:x-request-id|x-gateway-|x-ratelimit-|idempotent-replayed|connection|keep-alive)/;
  const fields = [...response.headers].filter(([name]) => !own.test(name));
  return { status: response.status, fields, body: await response.text() };
}

describe('a request with an idempotency key', () => {
  it('runs once; a duplicate gets the stored status, headers and body, marked as replayed', async () => {
    const upstream = opened(await startCountingUpstream());
    const gateway = await open(upstream);
    const key = randomUUID();
    const first = await postKeyed(gateway, key);
    const again = await postKeyed(gateway, `"${key}"`);
    expect(first.headers.has('idempotent-replayed')).toBe(false);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(again.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    const response = await given(first);
    expect(await given(again)).toEqual(response);
    expect([response.status, response.body]).toEqual([201, '{"number":1,"é":"\u0000"}']);
    expect(again.headers.has('x-gateway-error')).toBe(false);
    expect(upstream.seen).toHaveLength(1);
    const records = [await gateway.recordOf(first), await gateway.recordOf(again)];
    expect(records.map((record) => [record.idempotency, record.attempts.length])).toEqual([
      ['first', 1],
      ['replayed', 0],
    ]);
    expect(records.map((record) => record.outcome)).toEqual(['success', 'success']);
    expect(again.headers.get('x-ratelimit-remaining')).toBe('998');
  });

  it.each([400, 404, 500])('gets the stored status again: %i', async (status) => {
    const upstream = opened(await startCountingUpstream(status));
    const gateway = await open(upstream);
    const key = randomUUID();
    const response = await given(await postKeyed(gateway, key));
    expect(await given(await postKeyed(gateway, key))).toEqual(response);
    expect(response.status).toBe(status);
    expect(upstream.seen).toHaveLength(1);
  });

  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'])('runs once also with %s', async (method) => {
    const upstream = opened(await startCountingUpstream());
    const gateway = await open(upstream);
    const key = randomUUID();
    const init = { method, body: method === 'GET' || method === 'HEAD' ? null : 'x' };
    const response = await given(await postKeyed(gateway, key, init));
    expect(await given(await postKeyed(gateway, key, init))).toEqual(response);
    expect(upstream.seen).toHaveLength(1);
  });

  it.each<[string, RequestInit & { path?: string }]>([
    ['body', { body: '{"amount":6}' }],
    ['body, namely none', { body: null }],
    ['query', { path: 'test?a=1' }],
    ['path', { path: 'test/sub' }],
    ['method', { method: 'PUT' }],
  ])(
    'is refused with 409 if it has another %s, before and after the end of the first',
    async (_case, other) => {
      const held: (() => void)[] = [];
      const upstream = opened(
        await startUpstream((_seen, response) => void held.push(() => response.end('ok'))),
      );
      const gateway = await open(upstream);
      const key = randomUUID();
      const first = postKeyed(gateway, key);
      await eventually(() => expect(held.length).toBe(1));
      const during = await postKeyed(gateway, key, other);
      const error = await expectRefusal(during, 409, 'idempotency_conflict');
      held[0]?.();
      expect(error.message).toContain((await first).headers.get('x-request-id'));
      const after = await postKeyed(gateway, key, other);
      await expectRefusal(after, 409, 'idempotency_conflict');
      expect((await gateway.recordOf(after)).idempotency).toBe('conflict');
      expect(upstream.seen).toHaveLength(1);
    },
  );

  it('uses the store once before it is sent; a request without a key never does', async () => {
    const calls: string[] = [];
    const store = new FaultyIdempotencyStore(new MemoryIdempotencyStore());
    store.fault = (call) => void calls.push(call);
    const upstream = opened(
      await startUpstream((_seen, response) => void response.end(calls.join())),
    );
    const route = { upstreams: [upstream.url] };
    const gateway = opened(await startTestDataPath(route, { idempotencyStore: store }));
    expect(await (await gateway.call('test', { method: 'POST', body: 'x' })).text()).toBe('');
    expect(await (await postKeyed(gateway, randomUUID())).text()).toBe('write');
    await eventually(() => expect(calls).toEqual(['write', 'write']));
  });

  it('waits for the first one, and the wait does not count as gateway latency', async () => {
    const held: (() => void)[] = [];
    const upstream = opened(
      await startUpstream((_seen, response) => void held.push(() => response.end('ok'))),
    );
    let passedMs = 0;
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + passedMs };
    const gateway = opened(
      await startTestDataPath({ upstreams: [upstream.url], timeout_ms: 60_000 }, { clock }),
    );
    const key = randomUUID();
    const first = postKeyed(gateway, key);
    await eventually(() => expect(held.length).toBe(1));
    const seconds = Array.from({ length: 5 }, () => postKeyed(gateway, key));
    await eventually(async () => {
      const text = await gateway.registry.getSingleMetricAsString('gateway_idempotency_waiting');
      expect(text).toContain('gateway_idempotency_waiting 5');
    });
    passedMs = WAITED_MS;
    held[0]?.();
    expect(await (await first).text()).toBe('ok');
    for (const second of await Promise.all(seconds)) {
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      expect(Number(second.headers.get('x-gateway-latency'))).toBeLessThan(WAITED_MS / 2);
      const { timing } = await gateway.recordOf(second);
      expect(timing.total_ms).toBeGreaterThan(WAITED_MS);
      expect(timing.gateway_ms).toBeLessThan(WAITED_MS / 2);
    }
    expect(upstream.seen).toHaveLength(1);
  });

  it('is refused at its deadline with 409 and Retry-After while the first one runs', async () => {
    const upstream = opened(await startUpstream(() => undefined));
    const gateway = await open(upstream);
    const key = randomUUID();
    const first = postKeyed(gateway, key);
    await eventually(() => expect(upstream.seen.length).toBe(1));
    const route = { upstreams: [upstream.url], timeout_ms: 200 };
    await gateway.use(testSnapshot(route, gateway.token));
    const second = await postKeyed(gateway, key);
    await expectRefusal(second, 409, 'idempotency_in_progress');
    expect(second.headers.get('retry-after')).toBe('1');
    expect((await gateway.recordOf(second)).idempotency).toBe('in_progress');
    expect(upstream.seen).toHaveLength(1);
    await expectRefusal(await first, 504, 'upstream_timeout');
  });

  it('runs once for each caller and route with the same key', async () => {
    const upstream = opened(await startCountingUpstream());
    const route = { upstreams: [upstream.url] };
    const one = await open(upstream);
    const key = randomUUID();
    await postKeyed(one, key);
    await one.use(testSnapshot({ ...route, id: 'rte_other', name: 'other' }, one.token));
    expect((await postKeyed(one, key, { path: 'other' })).headers.has('idempotent-replayed')).toBe(
      false,
    );
    const snapshot = testSnapshot(route, one.token);
    await one.use({ ...snapshot, tokens: [testToken(one.token, { id: 'tok_other' })] });
    expect((await postKeyed(one, key)).headers.has('idempotent-replayed')).toBe(false);
    expect(upstream.seen).toHaveLength(3);
    await one.use(snapshot);
    expect((await postKeyed(one, key)).headers.get('idempotent-replayed')).toBe('true');
  });
});
