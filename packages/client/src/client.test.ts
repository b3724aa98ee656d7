import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ApiError,
  ConnectionError,
  createClient,
  type ClientOptions,
  type GatewayClient,
} from './client.ts';
import type { Clock } from './deadline.ts';

const URL_OF_UPSTREAM = 'http://127.0.0.1:9';
const MANAGEMENT_RATE_LIMIT = 100;

describe('the client of the management API', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi({ managementRateLimit: MANAGEMENT_RATE_LIMIT });
  });
  afterAll(() => api.close());

  const client = (options: Partial<ClientOptions> = {}) =>
    createClient({ baseUrl: api.url, token: api.adminToken, ...options });

  /** Waits end at once, and let the same time pass for the control plane. Deadlines never pass. */
  function skippingClock(): Clock & { readonly waits: number[] } {
    const waits: number[] = [];
    return {
      waits,
      monotonicMs: () => api.clock.monotonicMs(),
      setTimer(delayMs, callback) {
        if (delayMs !== 300_000) {
          waits.push(delayMs);
          api.clock.advance(delayMs);
          queueMicrotask(callback);
        }
        return { cancel: () => undefined };
      },
    };
  }

  async function service(name: string): Promise<string> {
    const { body } = await client().post('/v1/services', {
      body: { name, environment: 'production', url: URL_OF_UPSTREAM },
    });
    return body.data.id;
  }

  it('creates, reads, changes and deletes a resource, with the types of the document', async () => {
    const id = await service('typed');
    const path = { id };
    const read = await client().get('/v1/services/{id}', { params: { path } });
    expect(read.body.data.url).toBe(URL_OF_UPSTREAM);
    expect(read.requestId).toMatch(/^req_/);
    const header = { 'If-Match': read.etag ?? '' };
    const changed = await client().patch('/v1/services/{id}', {
      params: { path, header },
      body: { health_path: '/ready' },
    });
    expect(changed.body?.data.health_path).toBe('/ready');
    const stale = client().delete('/v1/services/{id}', { params: { path, header } });
    await expect(stale).rejects.toMatchObject({ status: 412, code: 'precondition_failed' });
    const { status, body } = await client().delete('/v1/services/{id}', { params: { path } });
    expect([status, body]).toEqual([204, undefined]);
  });

  it('rejects with the code, status, details and request id of an error', async () => {
    const error: unknown = await client()
      .post('/v1/routes', { body: { name: 'no service', timeout_ms: 0 } })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    const { code, status, details, requestId } = error as ApiError;
    expect([code, status]).toEqual(['invalid_request', 400]);
    expect(details.map(({ path }) => path).sort()).toEqual(['name', 'service_id', 'timeout_ms']);
    expect(requestId).toMatch(/^req_/);
  });

  it('reads a list page by page, and only the pages that are needed', async () => {
    const names = Array.from({ length: 5 }, (_none, at) => `listed-${at}`);
    for (const name of names) await client().post('/v1/environments', { body: { name } });
    const urls: string[] = [];
    const counting = client({
      fetch: (request) => {
        urls.push(request.url);
        return fetch(request);
      },
    });
    const found: string[] = [];
    const params = { query: { limit: 2 } };
    for await (const { name } of counting.list('/v1/environments', { params })) found.push(name);
    expect(found).toEqual(['development', ...names, 'production']);
    expect(urls).toHaveLength(4);
    urls.length = 0;
    for await (const { name } of counting.list('/v1/environments', { params })) {
      expect(name).toBe('development');
      break;
    }
    expect(urls).toHaveLength(1);
  });

  it('waits after 429 as long as Retry-After says, and a random part of a tenth more', async () => {
    const clock = skippingClock();
    const waiting = client({ clock, timeoutMs: 300_000, random: () => 0.5 });
    for (let calls = 0; calls <= MANAGEMENT_RATE_LIMIT; calls += 1) {
      const { status } = await waiting.get('/v1/environments');
      expect(status).toBe(200);
    }
    expect(clock.waits).toHaveLength(1);
    expect(clock.waits[0]).toBeGreaterThan(1000);
    expect((clock.waits[0] ?? 0) % 1050).toBe(0);
  });

  it('does not wait longer than the deadline', async () => {
    api.clock.advance(60_000);
    for (let calls = 0; calls < MANAGEMENT_RATE_LIMIT; calls += 1) {
      await client().get('/v1/environments');
    }
    // The quota is back after a minute.
    const hasty = client({ timeoutMs: 10_000 });
    const refused = hasty.get('/v1/environments');
    await expect(refused).rejects.toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    api.clock.advance(60_000);
  });

  it('retries 503 with the same body and the same idempotency key, and gives each POST its own', async () => {
    const sent: [key: string | null, body: string][] = [];
    const flaky = client({
      clock: skippingClock(),
      timeoutMs: 300_000,
      async fetch(request) {
        sent.push([request.headers.get('idempotency-key'), await request.clone().text()]);
        if (sent.length > 2) return fetch(request);
        return new Response('', { status: 503, headers: { 'retry-after': '1' } });
      },
    });
    await flaky.post('/v1/environments', { body: { name: 'flaky-1' } });
    await flaky.post('/v1/environments', { body: { name: 'flaky-2' } });
    const [first, second, third, fourth] = sent;
    expect(first?.[0]).toMatch(/^[0-9a-f]{32}$/);
    expect([second, third]).toEqual([first, first]);
    expect(fourth?.[0]).not.toBe(first?.[0]);
    await flaky.get('/v1/environments');
    expect(sent.at(-1)?.[0]).toBeNull();
    const headers = { 'Idempotency-Key': 'mine' };
    await flaky.post('/v1/environments', { body: { name: 'flaky-3' }, headers });
    expect(sent.at(-1)?.[0]).toBe('mine');
  });

  it('backs off at random if 503 has no Retry-After, and gives up at the deadline', async () => {
    const clock = skippingClock();
    const answers = client({
      clock,
      timeoutMs: 300_000,
      random: () => 1,
      fetch: () => Promise.resolve(new Response('away', { status: 503 })),
    });
    const refused = answers.get('/v1/services');
    await expect(refused).rejects.toMatchObject({ status: 503, code: 'unknown_error' });
    expect(clock.waits.slice(0, 6)).toEqual([500, 1000, 2000, 4000, 8000, 10_000]);
    expect(clock.waits.reduce((sum, wait) => sum + wait)).toBeLessThan(300_000);
  });

  it.each([
    ['JSON of another program', new Response('{"ok":true}', { status: 200 })],
    ['a list', new Response('[]', { status: 200 })],
    ['a page', new Response('<html></html>', { status: 201 })],
    ['nothing', new Response(null, { status: 200 })],
    ['an error of another program', new Response('{"error":"no"}', { status: 404 })],
  ])('rejects %s: it is not a response of the gateway', async (_what, response) => {
    const other = client({ fetch: () => Promise.resolve(response.clone()) });
    const params = { path: { id: 'svc_1' } };
    const error = {
      name: 'ApiError',
      code: 'unknown_error',
      status: response.status,
      message: `The response has the status ${response.status}, and is not one of the gateway.`,
    };
    await expect(other.get('/v1/services/{id}', { params })).rejects.toMatchObject(error);
    await expect(other.delete('/v1/services/{id}', { params })).rejects.toMatchObject(error);
  });

  it('reads the description of the API, which has no envelope', async () => {
    const { body } = await client().get('/v1/openapi.json');
    expect(body).toHaveProperty('openapi');
  });

  it('rejects with a ConnectionError if there is no response', async () => {
    const nowhere = client({ baseUrl: 'http://127.0.0.1:1' }).get('/v1/services');
    await expect(nowhere).rejects.toBeInstanceOf(ConnectionError);
    await expect(nowhere).rejects.toThrow(/^GET http:\/\/127\.0\.0\.1:1\/v1\/services failed: /);
    const path = { id: 'rte_1' };
    const route = client({ baseUrl: 'http://127.0.0.1:1' }).get('/v1/routes/{id}', {
      params: { path },
    });
    await expect(route).rejects.toThrow(
      /^GET http:\/\/127\.0\.0\.1:1\/v1\/routes\/rte_1 failed: fetch failed: ./,
    );
    const withTls = client({ baseUrl: api.url.replace('http:', 'https:') }).get('/v1/services');
    await expect(withTls).rejects.toThrow(
      /\/v1\/services failed: fetch failed: the port does not speak TLS; is its address http:\/\/\?$/,
    );
    const silent = client({
      timeoutMs: 20,
      fetch: (_request, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
    }).get('/v1/services');
    await expect(silent).rejects.toThrow('there was no complete response within 20 ms');
  });

  it('ends a call when the signal of the caller aborts', async () => {
    const leaving = new AbortController();
    const call = client().get('/v1/services', { signal: leaving.signal });
    leaving.abort(new Error('left'));
    await expect(call).rejects.toThrow('left');
  });
});

it('ends a call when the signal of the caller aborts, also after the garbage collector ran', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const server = createServer(() => undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const caller = new AbortController();
  const arrived = once(server, 'request');
  const call = createClient({ baseUrl: `http://127.0.0.1:${port}` }).post('/v1/services', {
    body: { name: 'a', environment: 'production', url: URL_OF_UPSTREAM },
    signal: caller.signal,
  });
  const ended = expect(call).rejects.toThrow('left');
  await arrived;
  collectGarbage();
  caller.abort(new Error('left'));
  await ended;
  server.closeAllConnections();
  await once(server.close(), 'close');
});

it('knows the paths, parameters and fields of the document', () => {
  /** Compiled, never called. */
  async function mistakes(gateway: GatewayClient): Promise<void> {
    const path = { id: 'rte_1' };
    // @ts-expect-error there is no such path
    await gateway.get('/v1/nothing');
    // @ts-expect-error the id is missing
    await gateway.get('/v1/routes/{id}');
    // @ts-expect-error the type is wrong
    await gateway.patch('/v1/routes/{id}', { params: { path }, body: { timeout_ms: '3000' } });
    // @ts-expect-error there is no such field
    await gateway.patch('/v1/routes/{id}', { params: { path }, body: { timeout: 3000 } });
    // @ts-expect-error it is not a list
    gateway.list('/v1/routes/{id}', { params: { path } });
  }
  expect(mistakes).toBeInstanceOf(Function);
});
