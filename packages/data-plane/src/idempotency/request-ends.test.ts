import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { pause, systemClock } from '@gateway/shared/clock';
import { eventually } from '@gateway/shared/test/eventually';
import { LEASE_MS } from './claim.ts';
import { FaultyIdempotencyStore } from '../../test/idempotency/faulty-store.ts';
import { MemoryIdempotencyStore } from '../../test/idempotency/memory-store.ts';
import { startTestDataPath } from '../../test/data-path.ts';
import { testSnapshot, testToken } from '@gateway/shared/test/snapshot';
import { openGateway, postKeyed, startCountingUpstream } from '../../test/keyed-request.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { closedPort, startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

const open = async (...args: Parameters<typeof openGateway>) => opened(await openGateway(...args));

describe('the end of a request with an idempotency key', () => {
  it('frees its key where no upstream could be reached', async () => {
    const port = await closedPort();
    const gateway = await open({ url: `http://127.0.0.1:${port}` });
    const key = randomUUID();
    await expectRefusal(await postKeyed(gateway, key), 502, 'upstream_unavailable');
    const again = await postKeyed(gateway, key, { body: 'another' });
    await expectRefusal(again, 502, 'upstream_unavailable');
    expect((await gateway.recordOf(again)).idempotency).toBe('first');
  });

  it('sends nothing and frees its key where the claim comes after the deadline', async () => {
    const upstream = opened(await startCountingUpstream());
    const idempotencyStore = new MemoryIdempotencyStore();
    const claim = idempotencyStore.write.bind(idempotencyStore);
    let delayMs = 900;
    idempotencyStore.write = async (...args) => {
      await pause(systemClock, delayMs);
      return claim(...args);
    };
    const route = { upstreams: [upstream.url], timeout_ms: 500 };
    const gateway = opened(await startTestDataPath(route, { idempotencyStore }));
    const key = randomUUID();
    await expectRefusal(await postKeyed(gateway, key), 504, 'upstream_timeout');
    expect(upstream.seen).toHaveLength(0);
    delayMs = 0;
    await eventually(async () => expect((await postKeyed(gateway, key)).status).toBe(201));
    expect(upstream.seen).toHaveLength(1);
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
      const first = await postKeyed(gateway, key);
      await expectRefusal(first, 502, 'upstream_unavailable');
      const second = await postKeyed(gateway, key);
      const third = await postKeyed(gateway, key);
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
      const other = await postKeyed(gateway, key, { body: 'another' });
      await expectRefusal(other, 409, 'idempotency_conflict');
    },
  );

  it.each([
    ['is run again by the retries of its route', 0, 3],
    ['is not once its lease was over, as others may have told its end unknown', LEASE_MS, 1],
  ])('%s: stood still for %i ms', async (_what, stoodStillMs, arrivals) => {
    let aheadMs = 0;
    const upstream = opened(
      await startUpstream((_seen, response) => {
        aheadMs = stoodStillMs;
        response.writeHead(503).end();
      }),
    );
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
    const route = {
      upstreams: [upstream.url],
      timeout_ms: 60_000,
      retry_count: 2,
      retry: {
        on_statuses: [503],
        per_attempt_timeout_ms: null,
        backoff_ms: 1,
        unsafe_methods: 'with_idempotency_key' as const,
      },
    };
    const gateway = opened(await startTestDataPath(route, { clock }));
    expect((await postKeyed(gateway, randomUUID())).status).toBe(503);
    expect(upstream.seen).toHaveLength(arrivals);
  });

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
    await expect(postKeyed(gateway, key).then((response) => response.text())).rejects.toThrow();
    await expectRefusal(await postKeyed(gateway, key), 409, 'idempotency_outcome_unknown');
  });

  it('retries within its one claim where the route says so', async () => {
    const upstream = opened(
      await startUpstream((_seen, response) => {
        response.writeHead(upstream.seen.length < 3 ? 503 : 200).end(`${upstream.seen.length}`);
      }),
    );
    const retry = {
      on_statuses: [503],
      per_attempt_timeout_ms: null,
      backoff_ms: 1,
      unsafe_methods: 'with_idempotency_key' as const,
    };
    const gateway = await open(upstream, { retry });
    const key = randomUUID();
    expect(await (await postKeyed(gateway, key)).text()).toBe('3');
    expect(await (await postKeyed(gateway, key)).text()).toBe('3');
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
    const first = postKeyed(gateway, key, { signal: abort.signal });
    await eventually(() => expect(held.length).toBe(1));
    abort.abort();
    await expect(first).rejects.toThrow();
    await eventually(async () => {
      expect(await gateway.registry.metrics()).toMatch(/^gateway_connections(\{.*\})? 0$/m);
    });
    const second = postKeyed(gateway, key);
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
    const first = await postKeyed(gateway, key, { signal: abort.signal });
    await first.body?.getReader().read();
    abort.abort();
    await gateway.recordOf(first);
    rest?.();
    expect(await (await postKeyed(gateway, key)).text()).toBe(body);
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
    const first = await postKeyed(gateway, key);
    expect(Buffer.from(await first.arrayBuffer()).equals(body)).toBe(true);
    const again = await postKeyed(gateway, key);
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

  it('is refused with 503 and not sent while the store of keys is away; one without goes on', async () => {
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

  it('is refused with 503 and not sent where it is new and the store has no room; an old one is answered', async () => {
    const upstream = opened(await startCountingUpstream());
    const store = new FaultyIdempotencyStore(new MemoryIdempotencyStore());
    const route = { upstreams: [upstream.url] };
    const gateway = opened(await startTestDataPath(route, { idempotencyStore: store }));
    const roomTold = () => gateway.registry.getSingleMetricAsString('gateway_idempotency_has_room');
    const key = randomUUID();
    await postKeyed(gateway, key);
    expect(await roomTold()).toMatch(/ 1$/);
    store.hasRoom = false;
    await expectRefusal(await postKeyed(gateway, randomUUID()), 503, 'idempotency_unavailable');
    expect((await postKeyed(gateway, key)).headers.get('idempotent-replayed')).toBe('true');
    expect(upstream.seen).toHaveLength(1);
    expect(await roomTold()).toMatch(/ 0$/);
  });
});
