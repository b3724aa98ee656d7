import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { pause, systemClock } from '@gateway/shared/clock';
import { eventually } from '@gateway/shared/test/eventually';
import { LEASE_MS } from './store/claim-values.ts';
import { MemoryIdempotencyStore } from '../../test/idempotency/memory-store.ts';
import { startTestDataPath } from '../../test/data-path.ts';
import {
  keySettings,
  openGateway,
  postKeyed,
  startCountingUpstream,
} from '../../test/keyed-request.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { closedPort, startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

const open = async (...args: Parameters<typeof openGateway>) => opened(await openGateway(...args));

describe('the outcome of a request with an idempotency key', () => {
  it('frees the key if no upstream could be reached', async () => {
    const port = await closedPort();
    const gateway = await open({ url: `http://127.0.0.1:${port}` });
    const key = randomUUID();
    await expectRefusal(await postKeyed(gateway, key), 502, 'upstream_unavailable');
    const again = await postKeyed(gateway, key, { body: 'another' });
    await expectRefusal(again, 502, 'upstream_unavailable');
    expect((await gateway.recordOf(again)).idempotency).toBe('first');
  });

  it('frees the key if the claim was stored after the deadline, and nothing is sent', async () => {
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
    await expectRefusal(await postKeyed(gateway, key), 503, 'idempotency_unavailable');
    expect(upstream.seen).toHaveLength(0);
    delayMs = 0;
    await eventually(async () => expect((await postKeyed(gateway, key)).status).toBe(201));
    expect(upstream.seen).toHaveLength(1);
  });

  it.each(['refuse', 'forward'] as const)(
    'is unknown if the upstream closed the connection after the request was sent: %s',
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
      const idempotency = keySettings({ on_unknown: onUnknown });
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
    ['includes the retries of the route', 0, 3],
    [
      'includes no retry after the end of the lease, because it may have been reported as unknown',
      LEASE_MS,
      1,
    ],
  ])('%s: the process was blocked for %i ms', async (_what, blockedMs, arrivals) => {
    let aheadMs = 0;
    const upstream = opened(
      await startUpstream((_seen, response) => {
        aheadMs = blockedMs;
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

  it('is unknown if the upstream closed the connection within the body', async () => {
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

  it('includes retries under one claim if the route allows them', async () => {
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

  it('is stored after the caller has left, so that the next use gets the response', async () => {
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

  it('is stored if the caller leaves within the response', async () => {
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
    ['without content', 0, true],
    ['of 1 MiB', 1024 * 1024, true],
    ['of 1 MiB and one byte', 1024 * 1024 + 1, false],
  ])('contains a body %s (%i bytes): %s', async (_case, size, isKept) => {
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
});
