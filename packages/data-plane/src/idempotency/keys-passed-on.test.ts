import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath, type TestDataPath } from '../../test/data-path.ts';
import { FaultyIdempotencyStore } from '../../test/idempotency/faulty-store.ts';
import { MemoryIdempotencyStore } from '../../test/idempotency/memory-store.ts';
import {
  keySettings,
  openGateway,
  postKeyed,
  startCountingUpstream,
} from '../../test/keyed-request.ts';

const opened = closeAfterEach();
const OFF = keySettings({ mode: 'off' });

const open = async (...args: Parameters<typeof openGateway>) => opened(await openGateway(...args));

const post = (gateway: TestDataPath, ...fields: readonly string[]) =>
  rawCall(
    gateway.port,
    { method: 'POST', lines: ['Host: gateway.test', ...fields, 'Content-Length: 0'] },
    gateway.token,
  );

describe('a key on a route whose idempotency.mode is off', () => {
  it('goes to the upstream with each request, and is neither claimed nor stored', async () => {
    const upstream = opened(await startCountingUpstream());
    const idempotencyStore = new FaultyIdempotencyStore(new MemoryIdempotencyStore());
    // The store is not needed either.
    idempotencyStore.fault = () => 'refused';
    const route = { upstreams: [upstream.url], idempotency: OFF };
    const gateway = opened(await startTestDataPath(route, { idempotencyStore }));
    const key = randomUUID();
    for (const body of ['{"amount":5}', '{"amount":5}', 'another']) {
      const response = await postKeyed(gateway, key, { body });
      expect([response.status, response.headers.get('idempotent-replayed')]).toEqual([201, null]);
      expect((await gateway.recordOf(response)).idempotency).toBe('passed_on');
    }
    expect(upstream.seen.map(({ headers }) => headers['idempotency-key'])).toEqual([key, key, key]);
    const counts = await gateway.registry.metrics();
    expect(counts).toMatch(/^gateway_idempotency_requests_total\{result="passed_on"\} 3$/m);
  });

  it.each(['k'.repeat(300), 'a b', '"abc', 'caf\u00e9'])('is not checked: %s', async (key) => {
    const upstream = opened(await startCountingUpstream());
    const gateway = await open(upstream, { idempotency: OFF });
    expect((await post(gateway, `Idempotency-Key: ${key}`)).status).toBe(201);
    expect(upstream.seen[0]?.headers['idempotency-key']).toBe(key);
  });

  it('does not hold the body in memory', async () => {
    const upstream = opened(await startCountingUpstream());
    const limits = { MAX_IDEMPOTENT_BODY_BYTES: '1000', MAX_KEPT_BODY_BYTES: '1000' };
    const gateway = await open(upstream, { idempotency: OFF }, limits);
    const body = 'x'.repeat(200_000);
    expect((await postKeyed(gateway, randomUUID(), { body })).status).toBe(201);
    expect(upstream.seen[0]?.body.length).toBe(200_000);
  });

  it('may be required; an empty one, or one that stays in the gateway, is none', async () => {
    const upstream = opened(await startCountingUpstream());
    const idempotency = keySettings({ mode: 'off', required: true });
    const gateway = await open(upstream, { idempotency });
    const refused = await gateway.call('test', { method: 'POST', body: 'x' });
    const error = await expectRefusal(refused, 400, 'invalid_request');
    expect(error.details?.[0]?.path).toBe('idempotency-key');
    expect((await post(gateway, 'Idempotency-Key:')).status).toBe(400);
    const named = ['Connection: Idempotency-Key', 'Idempotency-Key: a'];
    expect((await post(gateway, ...named)).status).toBe(400);
    expect(upstream.seen).toHaveLength(0);
    expect((await postKeyed(gateway, 'k')).status).toBe(201);
  });

  it('goes on with an upgrade', async () => {
    let head = '';
    const upstream = opened(
      await startRawUpstream((socket) => {
        socket.once('data', (bytes) => {
          head = bytes.toString('latin1');
          socket.end('HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n');
        });
      }),
    );
    const gateway = await open(upstream, { idempotency: OFF });
    const response = await rawCall(
      gateway.port,
      {
        lines: [
          'Host: gateway.test',
          'Connection: Upgrade',
          'Upgrade: websocket',
          'Sec-WebSocket-Version: 13',
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
          'Idempotency-Key: abc',
        ],
      },
      gateway.token,
    );
    expect(response.status).toBe(404);
    expect(head.toLowerCase()).toContain('idempotency-key: abc');
  });

  it.each<[string, readonly string[], number]>([
    ['a key', ['Idempotency-Key: abc'], 3],
    ['no key', [], 1],
    ['an empty one', ['Idempotency-Key:'], 1],
    ['one that stays in the gateway', ['Connection: Idempotency-Key', 'Idempotency-Key: a'], 1],
  ])(
    'lets the gateway retry a POST with retry.unsafe_methods with_idempotency_key: %s',
    async (_what, fields, attempts) => {
      const upstream = opened(await startCountingUpstream(503));
      const retry = {
        on_statuses: [503],
        per_attempt_timeout_ms: null,
        backoff_ms: 0,
        unsafe_methods: 'with_idempotency_key' as const,
      };
      const gateway = await open(upstream, { idempotency: OFF, retry });
      expect((await post(gateway, ...fields)).status).toBe(503);
      expect(upstream.seen).toHaveLength(attempts);
    },
  );
});
