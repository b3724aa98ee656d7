import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/testing/eventually';
import { FaultyIdempotencyStore } from '../state/idempotency/testing/faulty-store.ts';
import { MemoryIdempotencyStore } from '../state/idempotency/testing/memory-store.ts';
import {
  startTestDataPath,
  testSnapshot,
  testToken,
  type TestDataPath,
} from '../testing/data-path.ts';
import { closeAfterEach } from '../testing/opened.ts';
import { rawCall } from '../testing/raw-client.ts';
import { expectRefusal } from '../testing/refusal.ts';
import { closedPort, startRawUpstream, startUpstream } from '../testing/upstream.ts';

const opened = closeAfterEach();

const open = async (
  upstream: { readonly url: string },
  route: Partial<SnapshotRoute> = {},
  environment: Record<string, string> = {},
) => opened(await startTestDataPath({ upstreams: [upstream.url], ...route }, { environment }));

/** A POST of the same small body with the key, unless told otherwise. */
function post(
  gateway: TestDataPath,
  key: string,
  { path = 'test', ...init }: RequestInit & { path?: string } = {},
): Promise<Response> {
  const headers = { 'idempotency-key': key };
  return gateway.call(path, { method: 'POST', body: '{"amount":5}', ...init, headers });
}

/** An upstream whose every answer tells which arrival it is the answer to. */
const counting = async (status = 201) => {
  const upstream = opened(
    await startUpstream((_seen, response) => {
      const number = upstream.seen.length;
      response.writeHead(status, 'Made', [
        ...['Content-Type', 'application/json', 'X-Number', String(number)],
        ...['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'Connection', 'X-Hop', 'X-Hop', 'no'],
      ]);
      response.end(`{"number":${number},"é":"\u0000"}`);
    }),
  );
  return upstream;
};

/** What of a response must be the same when it is given again. */
async function given(response: Response) {
  const own = /^(?:x-request-id|x-gateway-|x-ratelimit-|idempotent-replayed|connection|keep-alive)/;
  const fields = [...response.headers].filter(([name]) => !own.test(name));
  return { status: response.status, fields, body: await response.text() };
}

describe('a request with an idempotency key', () => {
  it('runs once; the same again gets the stored status, headers and body, marked as replayed', async () => {
    const upstream = await counting();
    const gateway = await open(upstream);
    const key = randomUUID();
    const first = await post(gateway, key);
    const again = await post(gateway, `"${key}"`);
    expect(first.headers.has('idempotent-replayed')).toBe(false);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(again.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    const answer = await given(first);
    expect(await given(again)).toEqual(answer);
    expect([answer.status, answer.body]).toEqual([201, '{"number":1,"é":"\u0000"}']);
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

  it.each([400, 404, 500])('is answered with the stored %i again', async (status) => {
    const upstream = await counting(status);
    const gateway = await open(upstream);
    const key = randomUUID();
    const answer = await given(await post(gateway, key));
    expect(await given(await post(gateway, key))).toEqual(answer);
    expect(answer.status).toBe(status);
    expect(upstream.seen).toHaveLength(1);
  });

  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'])(
    'runs once with %s as well',
    async (method) => {
      const upstream = await counting();
      const gateway = await open(upstream);
      const key = randomUUID();
      const init = { method, body: method === 'GET' || method === 'HEAD' ? null : 'x' };
      const answer = await given(await post(gateway, key, init));
      expect(await given(await post(gateway, key, init))).toEqual(answer);
      expect(upstream.seen).toHaveLength(1);
    },
  );

  it.each<[string, RequestInit & { path?: string }]>([
    ['body', { body: '{"amount":6}' }],
    ['body of none', { body: null }],
    ['query', { path: 'test?a=1' }],
    ['path', { path: 'test/sub' }],
    ['method', { method: 'PUT' }],
  ])(
    'is refused with 409 where it has another %s, before and after the end',
    async (_case, other) => {
      const held: (() => void)[] = [];
      const upstream = opened(
        await startUpstream((_seen, response) => void held.push(() => response.end('ok'))),
      );
      const gateway = await open(upstream);
      const key = randomUUID();
      const first = post(gateway, key);
      await eventually(() => expect(held).toHaveLength(1));
      const during = await post(gateway, key, other);
      const error = await expectRefusal(during, 409, 'idempotency_conflict');
      held[0]?.();
      expect(error.message).toContain((await first).headers.get('x-request-id'));
      const after = await post(gateway, key, other);
      await expectRefusal(after, 409, 'idempotency_conflict');
      expect((await gateway.recordOf(after)).idempotency).toBe('conflict');
      expect(upstream.seen).toHaveLength(1);
    },
  );

  it('asks the store once before it is sent, and one without a key never', async () => {
    const calls: string[] = [];
    const store = new FaultyIdempotencyStore(new MemoryIdempotencyStore());
    store.fault = (call) => void calls.push(call);
    const upstream = opened(
      await startUpstream((_seen, response) => void response.end(calls.join())),
    );
    const route = { upstreams: [upstream.url] };
    const gateway = opened(await startTestDataPath(route, { idempotencyStore: store }));
    expect(await (await gateway.call('test', { method: 'POST', body: 'x' })).text()).toBe('');
    expect(await (await post(gateway, randomUUID())).text()).toBe('write');
    await eventually(() => expect(calls).toEqual(['write', 'write']));
  });

  it('waits for the first, and its wait counts as no work of the gateway', async () => {
    const held: (() => void)[] = [];
    const upstream = opened(
      await startUpstream((_seen, response) => void held.push(() => response.end('ok'))),
    );
    const gateway = await open(upstream);
    const key = randomUUID();
    const first = post(gateway, key);
    await eventually(() => expect(held).toHaveLength(1));
    const sentAtMs = performance.now();
    const seconds = Array.from({ length: 5 }, () => post(gateway, key));
    await eventually(async () => {
      const text = await gateway.registry.getSingleMetricAsString('gateway_idempotency_waiting');
      expect(text).toContain('gateway_idempotency_waiting 5');
      expect(performance.now() - sentAtMs).toBeGreaterThan(300);
    });
    held[0]?.();
    expect(await (await first).text()).toBe('ok');
    for (const second of await Promise.all(seconds)) {
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      expect(Number(second.headers.get('x-gateway-latency'))).toBeLessThan(150);
      const { timing } = await gateway.recordOf(second);
      expect(timing.total_ms).toBeGreaterThan(280);
      expect(timing.gateway_ms).toBeLessThan(150);
    }
    expect(upstream.seen).toHaveLength(1);
  });

  it('is refused at its deadline with 409 and Retry-After while the first goes on', async () => {
    const upstream = opened(await startUpstream(() => undefined));
    const gateway = await open(upstream);
    const key = randomUUID();
    const first = post(gateway, key);
    await eventually(() => expect(upstream.seen).toHaveLength(1));
    const route = { upstreams: [upstream.url], timeout_ms: 200 };
    gateway.use(testSnapshot(route, gateway.token));
    const second = await post(gateway, key);
    await expectRefusal(second, 409, 'idempotency_in_progress');
    expect(second.headers.get('retry-after')).toBe('1');
    expect((await gateway.recordOf(second)).idempotency).toBe('in_progress');
    expect(upstream.seen).toHaveLength(1);
    await expectRefusal(await first, 504, 'upstream_timeout');
  });

  it('frees its key where no upstream could be reached', async () => {
    const port = await closedPort();
    const gateway = await open({ url: `http://127.0.0.1:${port}` });
    const key = randomUUID();
    await expectRefusal(await post(gateway, key), 502, 'upstream_unavailable');
    const again = await post(gateway, key, { body: 'another' });
    await expectRefusal(again, 502, 'upstream_unavailable');
    expect((await gateway.recordOf(again)).idempotency).toBe('first');
  });

  it.each(['refuse', 'forward'] as const)(
    'has an unknown end where the upstream broke off after it was sent: %s',
    async (onUnknown) => {
      let arrivals = 0;
      const upstream = opened(
        await startRawUpstream((socket) => {
          socket.once('data', () => {
            arrivals += 1;
            if (arrivals === 1) socket.resetAndDestroy();
            else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
          });
        }),
      );
      const idempotency = { required: false, on_unknown: onUnknown };
      const gateway = await open(upstream, { idempotency });
      const key = randomUUID();
      const first = await post(gateway, key);
      await expectRefusal(first, 502, 'upstream_unavailable');
      const second = await post(gateway, key);
      const third = await post(gateway, key);
      if (onUnknown === 'refuse') {
        for (const refused of [second, third]) {
          const error = await expectRefusal(refused, 409, 'idempotency_outcome_unknown');
          expect(error.message).toContain(first.headers.get('x-request-id'));
          expect((await gateway.recordOf(refused)).idempotency).toBe('outcome_unknown');
        }
        expect(arrivals).toBe(1);
      } else {
        expect([second.status, second.headers.get('idempotent-replayed')]).toEqual([200, null]);
        expect([third.status, third.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
        expect((await gateway.recordOf(second)).idempotency).toBe('forwarded');
        expect(arrivals).toBe(2);
      }
      const other = await post(gateway, key, { body: 'another' });
      await expectRefusal(other, 409, 'idempotency_conflict');
    },
  );

  it('has an unknown end where the upstream broke off within its body', async () => {
    const upstream = opened(
      await startRawUpstream((socket) => {
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
          setTimeout(() => socket.resetAndDestroy(), 20);
        });
      }),
    );
    const gateway = await open(upstream);
    const key = randomUUID();
    await expect(post(gateway, key).then((response) => response.text())).rejects.toThrow();
    await expectRefusal(await post(gateway, key), 409, 'idempotency_outcome_unknown');
  });

  it('retries within its one claim where the route says so', async () => {
    const upstream = opened(
      await startUpstream((_seen, response) => {
        response.writeHead(upstream.seen.length < 3 ? 503 : 200).end(`${upstream.seen.length}`);
      }),
    );
    const retry = {
      ...{ on_statuses: [503], per_attempt_timeout_ms: null, backoff_ms: 1 },
      unsafe_methods: 'with_idempotency_key' as const,
    };
    const gateway = await open(upstream, { retry });
    const key = randomUUID();
    expect(await (await post(gateway, key)).text()).toBe('3');
    expect(await (await post(gateway, key)).text()).toBe('3');
    expect(upstream.seen).toHaveLength(3);
  });

  it('goes on when its caller leaves, so that the next use gets the answer', async () => {
    const held: (() => void)[] = [];
    const upstream = opened(
      await startUpstream((_seen, response) => void held.push(() => response.end('done'))),
    );
    const gateway = await open(upstream);
    const key = randomUUID();
    const abort = new AbortController();
    const first = post(gateway, key, { signal: abort.signal });
    await eventually(() => expect(held).toHaveLength(1));
    abort.abort();
    await expect(first).rejects.toThrow();
    const second = post(gateway, key);
    held[0]?.();
    expect(await (await second).text()).toBe('done');
    expect(upstream.seen).toHaveLength(1);
    await eventually(() => {
      expect(gateway.records.find((record) => record.idempotency === 'first')?.outcome).toBe(
        'client_aborted',
      );
    });
  });

  it('reads the rest of a response whose caller left within it', async () => {
    const body = 'x'.repeat(600_000);
    let rest: (() => void) | undefined;
    const upstream = opened(
      await startUpstream((_seen, response) => {
        response.writeHead(200, { 'content-length': body.length });
        response.write(body.slice(0, 1000));
        rest = () => response.end(body.slice(1000));
      }),
    );
    const gateway = await open(upstream);
    const key = randomUUID();
    const abort = new AbortController();
    const first = await post(gateway, key, { signal: abort.signal });
    await first.body?.getReader().read();
    abort.abort();
    await gateway.recordOf(first);
    rest?.();
    expect(await (await post(gateway, key)).text()).toBe(body);
    expect(upstream.seen).toHaveLength(1);
  });

  it.each([
    ['of no answer', 0, true],
    ['of 1 MiB', 1024 * 1024, true],
    ['of 1 MiB and a byte', 1024 * 1024 + 1, false],
  ])('keeps a body %s (%i bytes): %s', async (_case, size, isKept) => {
    const body = Buffer.alloc(size, 'abcdefg');
    const upstream = opened(await startUpstream((_seen, response) => void response.end(body)));
    const gateway = await open(upstream);
    const key = randomUUID();
    const first = await post(gateway, key);
    expect(Buffer.from(await first.arrayBuffer()).equals(body)).toBe(true);
    const again = await post(gateway, key);
    if (isKept) {
      expect(Buffer.from(await again.arrayBuffer()).equals(body)).toBe(true);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
    } else {
      const error = await expectRefusal(again, 409, 'idempotency_outcome_unknown');
      expect(error.message).toContain(first.headers.get('x-request-id'));
      expect(error.message).toContain('200');
      expect((await gateway.recordOf(again)).idempotency).toBe('not_replayable');
    }
    expect(upstream.seen).toHaveLength(1);
  });

  it('is each caller’s and each route’s own', async () => {
    const upstream = await counting();
    const route = { upstreams: [upstream.url] };
    const one = await open(upstream);
    const key = randomUUID();
    await post(one, key);
    one.use(testSnapshot({ ...route, id: 'rte_other', name: 'other' }, one.token));
    expect((await post(one, key, { path: 'other' })).headers.has('idempotent-replayed')).toBe(
      false,
    );
    const snapshot = testSnapshot(route, one.token);
    one.use({ ...snapshot, tokens: [testToken(one.token, { id: 'tok_other' })] });
    expect((await post(one, key)).headers.has('idempotent-replayed')).toBe(false);
    expect(upstream.seen).toHaveLength(3);
    one.use(snapshot);
    expect((await post(one, key)).headers.get('idempotent-replayed')).toBe('true');
  });

  it('is refused with 503 and not sent while the store of keys is away; one without goes on', async () => {
    const upstream = await counting();
    const store = new FaultyIdempotencyStore(new MemoryIdempotencyStore());
    store.fault = () => 'refused';
    const route = { upstreams: [upstream.url] };
    const gateway = opened(await startTestDataPath(route, { idempotencyStore: store }));
    const refused = await post(gateway, randomUUID());
    await expectRefusal(refused, 503, 'idempotency_unavailable');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await gateway.recordOf(refused)).idempotency).toBe('unavailable');
    expect(upstream.seen).toHaveLength(0);
    expect((await gateway.call('test', { method: 'POST', body: 'x' })).status).toBe(201);
  });
});

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
  ])('%s is refused with 400 that names it', async (_case, line) => {
    const upstream = await counting();
    const gateway = await open(upstream);
    const response = await send(gateway, line);
    expect(response.status).toBe(400);
    const { error } = JSON.parse(response.body.toString()) as {
      error: { code: string; details: { path: string }[] };
    };
    expect([error.code, error.details[0]?.path]).toEqual(['invalid_request', 'idempotency-key']);
    expect(upstream.seen).toHaveLength(0);
  });

  it('twice in one request is refused with 400, the same value too', async () => {
    const gateway = await open(await counting());
    const response = await send(gateway, 'Idempotency-Key: a', 'Idempotency-Key: a');
    expect([response.status, response.body.toString()]).toEqual([
      400,
      expect.stringContaining('"path":"idempotency-key"'),
    ]);
  });

  it('of one and of 255 characters is taken, and goes on to the upstream as it came', async () => {
    const upstream = await counting();
    const gateway = await open(upstream);
    for (const value of ['k', 'k'.repeat(255), '"a b"']) {
      expect((await send(gateway, `Idempotency-Key: ${value}`)).status).toBe(201);
      expect(upstream.seen.at(-1)?.headers['idempotency-key']).toBe(value);
    }
  });

  it('is asked for with 400 by a route that requires it', async () => {
    const upstream = await counting();
    const gateway = await open(upstream, {
      idempotency: { required: true, on_unknown: 'refuse' },
    });
    const refused = await gateway.call('test', { method: 'POST', body: 'x' });
    const error = await expectRefusal(refused, 400, 'invalid_request');
    expect(error.details?.[0]?.path).toBe('idempotency-key');
    expect((await gateway.recordOf(refused)).idempotency).toBeNull();
    expect((await post(gateway, randomUUID())).status).toBe(201);
    expect(upstream.seen).toHaveLength(1);
  });

  it('is refused with an upgrade', async () => {
    const gateway = await open(await counting());
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
    ['of announced length', (bytes: number) => ({ body: 'x'.repeat(bytes) })],
    ['in chunks', stream],
  ])('%s is kept whole up to the bound, and refused beyond it', async (_case, bodyOf) => {
    const upstream = await counting();
    const gateway = await open(upstream, {}, { MAX_IDEMPOTENT_BODY_BYTES: '200000' });
    const key = randomUUID();
    const first = await post(gateway, key, bodyOf(200_000));
    expect([first.status, upstream.seen[0]?.body.length]).toEqual([201, 200_000]);
    const again = await post(gateway, key, bodyOf(200_000));
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const refused = await post(gateway, randomUUID(), bodyOf(200_001));
    const error = await expectRefusal(refused, 413, 'payload_too_large');
    expect(error.message).toContain('200000');
    expect((await gateway.call('test', { method: 'POST', ...bodyOf(200_001) })).status).toBe(201);
    expect(upstream.seen).toHaveLength(2);
  });

  it('is refused with 503 where too many bodies are kept', async () => {
    const gateway = await open(await counting(), {}, { MAX_KEPT_BODY_BYTES: '1000' });
    for (const init of [{ body: 'x'.repeat(2000) }, stream(2000)]) {
      const refused = await post(gateway, randomUUID(), init);
      await expectRefusal(refused, 503, 'gateway_overloaded');
    }
  });
});
