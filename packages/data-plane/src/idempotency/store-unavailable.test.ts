import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startTestDataPath } from '../../test/data-path.ts';
import { FaultyIdempotencyStore } from '../../test/idempotency/faulty-store.ts';
import { MemoryIdempotencyStore } from '../../test/idempotency/memory-store.ts';
import { postKeyed, startCountingUpstream } from '../../test/keyed-request.ts';

const opened = closeAfterEach();

describe('a request with an idempotency key while the store is unavailable', () => {
  it('is refused with 503 and not sent; a request without a key is served', async () => {
    const upstream = opened(await startCountingUpstream());
    const store = new FaultyIdempotencyStore(new MemoryIdempotencyStore());
    store.fault = () => 'refused';
    const route = { upstreams: [upstream.url] };
    const gateway = opened(await startTestDataPath(route, { idempotencyStore: store }));
    const refused = await postKeyed(gateway, randomUUID());
    await expectRefusal(refused, 503, 'idempotency_unavailable');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await gateway.recordOf(refused)).idempotency).toBe('unavailable');
    expect(upstream.seen).toHaveLength(0);
    expect((await gateway.call('test', { method: 'POST', body: 'x' })).status).toBe(201);
  });

  it('is refused with 503 and not sent if the key is new and the store is full; a known key gets its response', async () => {
    const upstream = opened(await startCountingUpstream());
    const store = new FaultyIdempotencyStore(new MemoryIdempotencyStore());
    const route = { upstreams: [upstream.url] };
    const gateway = opened(await startTestDataPath(route, { idempotencyStore: store }));
    const roomMetric = () =>
      gateway.registry.getSingleMetricAsString('gateway_idempotency_has_room');
    const key = randomUUID();
    await postKeyed(gateway, key);
    expect(await roomMetric()).toMatch(/ 1$/);
    store.bound = 'bucket';
    await expectRefusal(await postKeyed(gateway, randomUUID()), 503, 'idempotency_unavailable');
    expect((await postKeyed(gateway, key)).headers.get('idempotent-replayed')).toBe('true');
    expect(upstream.seen).toHaveLength(1);
    expect(await roomMetric()).toMatch(/ 0$/);
  });
});
