import { randomBytes, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath, type TestDataPath } from '../../test/data-path.ts';
import { settled } from '../../test/idempotency/key-world.ts';
import { MemoryIdempotencyStore } from '../../test/idempotency/memory-store.ts';
import { keySettings, openGateway, postKeyed } from '../../test/keyed-request.ts';

const opened = closeAfterEach();

const open = async (...args: Parameters<typeof openGateway>) => opened(await openGateway(...args));

type Step = number | ((response: ServerResponse) => void);

const reset: Step = (response) => void response.socket?.resetAndDestroy();

/** An upstream that ends its requests in this order, and all further ones with 201. */
async function scripted(...script: readonly Step[]) {
  const upstream = opened(
    await startUpstream((_seen, response) => {
      const step = script[upstream.seen.length - 1] ?? 201;
      if (typeof step === 'function') step(response);
      else response.writeHead(step, { 'Retry-After': '7' }).end(`number ${upstream.seen.length}`);
    }),
  );
  return upstream;
}

const withRetries = (...statuses: readonly number[]) => ({
  on_statuses: [...statuses],
  per_attempt_timeout_ms: null,
  backoff_ms: 0,
  unsafe_methods: 'with_idempotency_key' as const,
});

/** Without a `Retry-After`, the gateway retries at once. */
const now =
  (status: number): Step =>
  (response) =>
    void response.writeHead(status).end('busy');

async function effectOf(gateway: TestDataPath, response: Response): Promise<unknown[]> {
  const { idempotency } = await gateway.recordOf(response);
  return [response.status, response.headers.get('idempotent-replayed'), idempotency];
}

describe('a key whose request ended with a repeatable status', () => {
  it.each<[number, number[]]>([
    [425, [425, 429]],
    [429, [425, 429]],
    [503, [425, 429, 503]],
    [409, [409]],
  ])(
    'lets the same request run again, and no other: %i, %j',
    async (status, repeatable_statuses) => {
      const upstream = await scripted(status, status);
      const gateway = await open(upstream, { idempotency: keySettings({ repeatable_statuses }) });
      const key = randomUUID();
      const first = await postKeyed(gateway, key);
      expect(await effectOf(gateway, first)).toEqual([status, null, 'first']);
      expect([first.headers.get('retry-after'), await first.text()]).toEqual(['7', 'number 1']);
      const other = await postKeyed(gateway, key, { body: 'another' });
      await expectRefusal(other, 409, 'idempotency_conflict');
      expect(await effectOf(gateway, await postKeyed(gateway, key))).toEqual([
        status,
        null,
        'repeated',
      ]);
      const third = await postKeyed(gateway, key);
      expect(await effectOf(gateway, third)).toEqual([201, null, 'repeated']);
      const last = await postKeyed(gateway, key);
      expect(await effectOf(gateway, last)).toEqual([201, 'true', 'replayed']);
      expect(upstream.seen).toHaveLength(3);
      const counts = await gateway.registry.metrics();
      expect(counts).toMatch(/^gateway_idempotency_requests_total\{result="repeated"\} 2$/m);
      expect(counts).toMatch(/^gateway_idempotency_claims_ended_total\{end="repeatable"\} 2$/m);
    },
  );

  it.each<[number, readonly number[]]>([
    [429, []],
    [429, [425]],
    [503, [425, 429]],
    [409, [425, 429]],
  ])(
    'gets the stored response again if the route does not list the status: %i, %j',
    async (status, list) => {
      const upstream = await scripted(status);
      const gateway = await open(upstream, {
        idempotency: keySettings({ repeatable_statuses: [...list] }),
      });
      const key = randomUUID();
      for (const effect of ['first', 'replayed', 'replayed']) {
        const response = await postKeyed(gateway, key);
        expect([response.status, (await gateway.recordOf(response)).idempotency]).toEqual([
          status,
          effect,
        ]);
      }
      expect(upstream.seen).toHaveLength(1);
    },
  );

  it.each<[string, readonly Step[], readonly number[]]>([
    ['was sent and got no response', [reset, now(429)], []],
    ['was answered with a status that the route does not list', [now(503), now(429)], [503]],
  ])('does not run again if an earlier attempt %s', async (_what, script, statuses) => {
    const upstream = await scripted(...script);
    const gateway = await open(upstream, { retry: withRetries(...statuses) });
    const key = randomUUID();
    expect(await effectOf(gateway, await postKeyed(gateway, key))).toEqual([429, null, 'first']);
    const again = await postKeyed(gateway, key);
    expect(await effectOf(gateway, again)).toEqual([429, 'true', 'replayed']);
    expect(upstream.seen).toHaveLength(2);
  });

  it('runs again if each attempt ended so, or was not sent', async () => {
    const upstream = await scripted(now(429), now(429));
    const gateway = await open(upstream, { retry_count: 1, retry: withRetries(429) });
    const key = randomUUID();
    expect((await postKeyed(gateway, key)).status).toBe(429);
    expect(await effectOf(gateway, await postKeyed(gateway, key))).toEqual([201, null, 'repeated']);
    expect(upstream.seen).toHaveLength(3);
  });

  it('is free if the last attempt of its first run reached no upstream, and the others ended so', async () => {
    const upstream = await scripted((response) => {
      response.writeHead(429, { Connection: 'close' }).end('busy');
      void upstream.close();
    });
    const gateway = await open(upstream, { retry_count: 1, retry: withRetries(429) });
    const key = randomUUID();
    const first = await postKeyed(gateway, key);
    await expectRefusal(first, 502, 'upstream_unavailable');
    expect((await gateway.recordOf(first)).attempts[0]?.status).toBe(429);
    const other = await postKeyed(gateway, key, { body: 'another' });
    expect(await effectOf(gateway, other)).toEqual([502, null, 'first']);
  });

  it('runs again if the body of the response with that status broke off', async () => {
    const upstream = await scripted((response) => {
      response.writeHead(429, { 'Content-Length': 100 });
      response.write('part', () => response.destroy());
    });
    const gateway = await open(upstream);
    const key = randomUUID();
    await expect(postKeyed(gateway, key).then((response) => response.text())).rejects.toThrow();
    const other = await postKeyed(gateway, key, { body: 'another' });
    await expectRefusal(other, 409, 'idempotency_conflict');
    expect(await effectOf(gateway, await postKeyed(gateway, key))).toEqual([201, null, 'repeated']);
  });

  it('leaves nothing in the store but its last response, however large', async () => {
    const large = randomBytes(600 * 1024);
    const busy: Step = (response) => void response.writeHead(429).end(large);
    const upstream = await scripted(busy, busy, busy);
    const idempotencyStore = new MemoryIdempotencyStore();
    const gateway = opened(
      await startTestDataPath({ upstreams: [upstream.url] }, { idempotencyStore }),
    );
    const key = randomUUID();
    for (let run = 1; run <= 3; run += 1) {
      const response = await postKeyed(gateway, key);
      expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([
        429,
        large.length,
      ]);
    }
    expect(await effectOf(gateway, await postKeyed(gateway, key))).toEqual([201, null, 'repeated']);
    expect(idempotencyStore.size).toBe(1);
  });

  it('gives the response to duplicates that wait for it, without asking the upstream again', async () => {
    const held: (() => void)[] = [];
    const upstream = await scripted(
      (response) => void held.push(() => response.writeHead(429, { 'Retry-After': '3' }).end('no')),
    );
    const gateway = await open(upstream);
    const key = randomUUID();
    const first = postKeyed(gateway, key);
    await eventually(() => expect(held).toHaveLength(1));
    const seconds = Array.from({ length: 5 }, () => postKeyed(gateway, key));
    await eventually(async () => {
      const text = await gateway.registry.getSingleMetricAsString('gateway_idempotency_waiting');
      expect(text).toContain('gateway_idempotency_waiting 5');
    });
    held[0]?.();
    expect(await effectOf(gateway, await first)).toEqual([429, null, 'first']);
    for (const second of await Promise.all(seconds)) {
      expect(await effectOf(gateway, second)).toEqual([429, 'true', 'replayed']);
      expect(second.headers.get('retry-after')).toBe('3');
    }
    expect(upstream.seen).toHaveLength(1);
  });

  it('keeps a key for the same request if its next run reaches no upstream', async () => {
    const upstream = await scripted(429);
    const gateway = await open(upstream);
    const key = randomUUID();
    expect((await postKeyed(gateway, key)).status).toBe(429);
    await upstream.close();
    await expectRefusal(await postKeyed(gateway, key), 502, 'upstream_unavailable');
    const other = await postKeyed(gateway, key, { body: 'another' });
    await expectRefusal(other, 409, 'idempotency_conflict');
    const again = await postKeyed(gateway, key);
    expect(await effectOf(gateway, again)).toEqual([502, null, 'repeated']);
  });
});

it('a refusal by the quota uses no key', async () => {
  const upstream = await scripted();
  const rate_limit = {
    ...{ limit: 1, window_seconds: 3600, per: 'route' as const },
    on_store_unavailable: 'share' as const,
  };
  const route = { upstreams: [upstream.url] };
  const gateway = await open(upstream, { rate_limit });
  expect((await gateway.call('test')).status).toBe(201);
  const key = randomUUID();
  await expectRefusal(await postKeyed(gateway, key), 429, 'rate_limit_exceeded');
  await gateway.use(testSnapshot(route, gateway.token));
  const other = await postKeyed(gateway, key, { body: 'another' });
  expect(await effectOf(gateway, other)).toEqual([201, null, 'first']);
});

it('a request that many callers repeat through many data planes never runs twice at a time, and has one effect', async () => {
  const BUSY_ENDS = 12;
  let running = 0;
  let mostRunning = 0;
  let effects = 0;
  const upstream = opened(
    await startUpstream((_seen, response) => {
      running += 1;
      mostRunning = Math.max(mostRunning, running);
      const isBusy = upstream.seen.length <= BUSY_ENDS;
      if (!isBusy) effects += 1;
      setImmediate(() => {
        running -= 1;
        response.writeHead(isBusy ? 429 : 201).end(`number ${upstream.seen.length}`);
      });
    }),
  );
  const idempotencyStore = withTurns(new MemoryIdempotencyStore());
  const environment = { GATEWAY_MASTER_KEYS: `k1:${randomBytes(32).toString('base64')}` };
  const route = { upstreams: [upstream.url], timeout_ms: 60_000 };
  const gateways: TestDataPath[] = [];
  for (let count = 0; count < 6; count += 1) {
    gateways.push(opened(await startTestDataPath(route, { idempotencyStore, environment })));
  }
  const [first] = gateways;
  const snapshot = testSnapshot(route, first?.token ?? '');
  for (const gateway of gateways) await gateway.use(snapshot);
  const key = randomUUID();
  const callers = gateways.flatMap((gateway) =>
    Array.from({ length: 10 }, async () => {
      for (let tries = 1; ; tries += 1) {
        const { url } = gateway;
        const response = await postKeyed({ ...gateway, call: callTo(url, first) }, key);
        if (response.status !== 429)
          return { status: response.status, body: await response.text() };
        await response.arrayBuffer();
        if (tries > BUSY_ENDS + 1) throw new Error('still busy');
      }
    }),
  );
  const answers = await Promise.all(callers);
  const end = { status: 201, body: `number ${BUSY_ENDS + 1}` };
  expect(answers).toEqual(answers.map(() => end));
  expect([mostRunning, effects, upstream.seen.length]).toEqual([1, 1, BUSY_ENDS + 1]);
});

/** A store to and from which each call takes a turn of the event loop, so that those of several data planes mix. */
function withTurns(store: MemoryIdempotencyStore): MemoryIdempotencyStore {
  const [read, write] = [store.read.bind(store), store.write.bind(store)];
  const late = async <T>(call: () => Promise<T>): Promise<T> => {
    await settled();
    const result = await call();
    await settled();
    return result;
  };
  return Object.assign(store, {
    read: (...args: Parameters<typeof read>) => late(() => read(...args)),
    write: (...args: Parameters<typeof write>) => late(() => write(...args)),
  });
}

/** Calls of one data plane with the token of another, because keys belong to their caller. */
function callTo(url: string, owner: TestDataPath | undefined): TestDataPath['call'] {
  return (path, init = {}) => {
    const authorization = `Bearer ${owner?.token}`;
    const headers = { authorization, ...(init.headers as Record<string, string>) };
    return fetch(`${url}/v1/proxy/${path}`, { ...init, headers });
  };
}
