import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { TestDataPath } from '../../test/data-path.ts';
import {
  keySettings,
  openGateway,
  postKeyed,
  startCountingUpstream,
} from '../../test/keyed-request.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';

const opened = closeAfterEach();

const open = async (...args: Parameters<typeof openGateway>) => opened(await openGateway(...args));

describe('the field Idempotency-Key', () => {
  const lines = (...keys: string[]) => ['Host: gateway.test', ...keys];
  const send = async (gateway: TestDataPath, ...keys: string[]) =>
    rawCall(
      gateway.port,
      { method: 'POST', lines: lines(...keys, 'Content-Length: 0') },
      gateway.token,
    );

  it.each([
    ['empty', 'Idempotency-Key:'],
    ['of 256 characters', `Idempotency-Key: ${'k'.repeat(256)}`],
    ['with a space', 'Idempotency-Key: a b'],
    ['with a byte above ASCII', 'Idempotency-Key: caf\u00e9'],
    ['badly quoted', 'Idempotency-Key: "abc'],
  ])('%s is refused with 400, which names it', async (_case, line) => {
    const upstream = opened(await startCountingUpstream());
    const gateway = await open(upstream);
    const response = await send(gateway, line);
    expect(response.status).toBe(400);
    const { error } = JSON.parse(response.body.toString()) as {
      error: { code: string; details: { path: string }[] };
    };
    expect([error.code, error.details[0]?.path]).toEqual(['invalid_request', 'idempotency-key']);
    expect(upstream.seen).toHaveLength(0);
  });

  it('twice in one request is one key if the values are the same', async () => {
    const upstream = opened(await startCountingUpstream());
    const gateway = await open(upstream);
    const responses = [
      await send(gateway, 'Idempotency-Key: a', 'idempotency-key: a'),
      await send(gateway, 'Idempotency-Key: a'),
    ];
    expect(responses.map(({ status }) => status)).toEqual([201, 201]);
    expect(responses[1]?.headers.get('idempotent-replayed')).toBe('true');
    expect(upstream.seen.map(({ headers }) => headers['idempotency-key'])).toEqual(['a']);
  });

  it('twice in one request is refused with 400 if the values differ', async () => {
    const gateway = await open(opened(await startCountingUpstream()));
    const response = await send(gateway, 'Idempotency-Key: a', 'Idempotency-Key: "a"');
    expect([response.status, response.body.toString()]).toEqual([
      400,
      expect.stringContaining('"path":"idempotency-key"'),
    ]);
  });

  it('of 1 and of 255 characters is accepted, and passed on unchanged', async () => {
    const upstream = opened(await startCountingUpstream());
    const gateway = await open(upstream);
    for (const value of ['k', 'k'.repeat(255), '"a b"']) {
      expect((await send(gateway, `Idempotency-Key: ${value}`)).status).toBe(201);
      expect(upstream.seen.at(-1)?.headers['idempotency-key']).toBe(value);
    }
  });

  it('is required with 400 by a route that requires it', async () => {
    const upstream = opened(await startCountingUpstream());
    const gateway = await open(upstream, {
      idempotency: keySettings({ required: true }),
    });
    const refused = await gateway.call('test', { method: 'POST', body: 'x' });
    const error = await expectRefusal(refused, 400, 'invalid_request');
    expect(error.details?.[0]?.path).toBe('idempotency-key');
    expect((await gateway.recordOf(refused)).idempotency).toBeNull();
    expect((await postKeyed(gateway, randomUUID())).status).toBe(201);
    expect(upstream.seen).toHaveLength(1);
  });

  it('is refused with an upgrade', async () => {
    const gateway = await open(opened(await startCountingUpstream()));
    const response = await rawCall(
      gateway.port,
      {
        lines: lines(
          'Connection: Upgrade',
          'Upgrade: websocket',
          'Sec-WebSocket-Version: 13',
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
          'Idempotency-Key: abc',
        ),
      },
      gateway.token,
    );
    expect([response.status, response.body.toString()]).toEqual([
      400,
      expect.stringContaining('"path":"idempotency-key"'),
    ]);
  });
});

describe('the body of a request with an idempotency key', () => {
  const stream = (bytes: number) => ({
    body: new Blob(['x'.repeat(bytes)]).stream(),
    duplex: 'half' as const,
  });

  it.each([
    ['with a content length', (bytes: number) => ({ body: 'x'.repeat(bytes) })],
    ['in chunks', stream],
  ])('%s is accepted up to the limit, and refused above it', async (_case, bodyOf) => {
    const upstream = opened(await startCountingUpstream());
    const gateway = await open(upstream, {}, { MAX_IDEMPOTENT_BODY_BYTES: '200000' });
    const key = randomUUID();
    const first = await postKeyed(gateway, key, bodyOf(200_000));
    expect([first.status, upstream.seen[0]?.body.length]).toEqual([201, 200_000]);
    const again = await postKeyed(gateway, key, bodyOf(200_000));
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const refused = await postKeyed(gateway, randomUUID(), bodyOf(200_001));
    const error = await expectRefusal(refused, 413, 'payload_too_large');
    expect(error.message).toContain('200000');
    expect((await gateway.call('test', { method: 'POST', ...bodyOf(200_001) })).status).toBe(201);
    expect(upstream.seen).toHaveLength(2);
  });

  it('is refused with 503 if too many bodies are held in memory', async () => {
    const gateway = await open(
      opened(await startCountingUpstream()),
      {},
      { MAX_KEPT_BODY_BYTES: '1000' },
    );
    for (const init of [{ body: 'x'.repeat(2000) }, stream(2000)]) {
      const refused = await postKeyed(gateway, randomUUID(), init);
      await expectRefusal(refused, 503, 'gateway_overloaded');
    }
  });
});
