import { describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import type { Socket } from 'node:net';
import { startTestDataPath } from '../../test/data-path.ts';
import { BODIES, type Body } from '../../test/request-bodies.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
type Policy = SnapshotRoute['retry'];
const POLICY: Policy = {
  on_statuses: [502, 503, 504],
  per_attempt_timeout_ms: null,
  backoff_ms: 1,
  unsafe_methods: 'never',
};

const FAILURES: Readonly<Record<string, (socket: Socket) => void>> = {
  reset: (socket) => socket.resetAndDestroy(),
  503: (socket) => void socket.write('HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy'),
  500: (socket) => void socket.write('HTTP/1.1 500 Bad\r\nContent-Length: 3\r\n\r\nbad'),
  404: (socket) => void socket.write('HTTP/1.1 404 None\r\nContent-Length: 4\r\n\r\nnone'),
  garbage: (socket) => void socket.write('garbage\r\n\r\n'),
  silence: () => undefined,
};

/** An upstream that reads and counts each request, and then fails in one way. */
async function failing(failure: string): Promise<{ readonly url: string; arrivals(): number }> {
  let arrivals = 0;
  const upstream = opened(
    await startRawUpstream((socket) => {
      let text = '';
      socket.on('data', (bytes) => {
        text += bytes.toString('latin1');
        const [head = '', body] = text.split('\r\n\r\n');
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
        const chunked = /transfer-encoding: chunked/i.test(head);
        if (body === undefined || (chunked ? !text.endsWith('0\r\n\r\n') : body.length < length))
          return;
        arrivals += 1;
        text = '';
        FAILURES[failure]?.(socket);
      });
    }),
  );
  return { url: upstream.url, arrivals: () => arrivals };
}

const WHY_NOT: Readonly<Record<string, string>> = {
  404: 'status_not_retried',
  500: 'status_not_retried',
  long_stream: 'body_not_kept',
};

const keyed = { 'idempotency-key': 'k1' };
const always: Partial<Policy> = { unsafe_methods: 'always' };
const withKey: Partial<Policy> = { unsafe_methods: 'with_idempotency_key' };

/** An upstream that sends this response, and keeps the bodies of the requests. */
async function responding(response: string) {
  const bodies: string[] = [];
  const upstream = opened(
    await startRawUpstream((socket) => {
      let text = '';
      socket.on('data', (bytes) => {
        text += bytes.toString('latin1');
        const [head = '', ...rest] = text.split('\r\n\r\n');
        const body = rest.join('\r\n\r\n');
        if (body.length < Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Infinity)) return;
        bodies.push(body);
        text = '';
        socket.write(response, 'latin1');
      });
    }),
  );
  return { url: upstream.url, bodies };
}

describe('retries', () => {
  it('send the same bytes each time, and the caller gets the bytes of the response', async () => {
    const all = Array.from({ length: 256 }, (_none, code) => String.fromCharCode(code)).join('');
    const length = `Content-Length: ${all.length}`;
    const busy = await responding('HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n');
    const good = await responding(`HTTP/1.1 200 OK\r\n${length}\r\n\r\n${all}`);
    const gateway = opened(
      await startTestDataPath({
        upstreams: [busy.url, good.url],
        retry_count: 1,
        retry: { ...POLICY, unsafe_methods: 'always' },
      }),
    );
    for (let calls = 0; busy.bodies.length === 0 && calls < 100; calls += 1) {
      const body = Buffer.from(all, 'latin1');
      const response = await gateway.call('test', { method: 'POST', body });
      expect(Buffer.from(await response.arrayBuffer()).toString('latin1')).toBe(all);
    }
    expect(busy.bodies).toEqual([all]);
    expect(new Set(good.bodies)).toEqual(new Set([all]));
  });

  it.each<[string, string, Body, number, Partial<Policy>?, Record<string, string>?]>([
    ['GET', 'reset', 'none', 3],
    ['GET', '503', 'none', 3],
    ['GET', 'garbage', 'none', 3],
    ['HEAD', '503', 'none', 3],
    ['OPTIONS', 'reset', 'none', 3],
    ['PUT', '503', 'small', 3],
    ['DELETE', 'reset', 'none', 3],
    ['GET', '500', 'none', 1],
    ['GET', '404', 'none', 1],
    ['GET', '500', 'none', 3, { on_statuses: [500] }],
    ['GET', '503', 'none', 1, { on_statuses: [] }],
    ['GET', 'silence', 'none', 3, { per_attempt_timeout_ms: 300 }],
    ['POST', 'reset', 'small', 1],
    ['POST', '503', 'small', 1],
    ['POST', 'garbage', 'none', 1],
    ['POST', 'silence', 'small', 1, { per_attempt_timeout_ms: 300 }],
    ['PATCH', 'reset', 'small', 1],
    ['PATCH', '503', 'none', 1],
    ['POST', 'reset', 'small', 1, {}, keyed],
    ['POST', 'reset', 'small', 1, withKey],
    ['POST', 'reset', 'small', 3, withKey, keyed],
    ['POST', '503', 'small', 3, withKey, keyed],
    ['POST', 'reset', 'small', 3, always],
    ['PATCH', '503', 'small', 3, always],
    ['PUT', 'reset', 'kept_stream', 3],
    ['POST', '503', 'kept_stream', 3, always],
    ['PUT', 'reset', 'long_stream', 1],
    ['POST', '503', 'long_stream', 1, always],
  ])(
    '%s that fails with %s, body %s: reaches the upstream %i times',
    async (method, failure, body, times, policy = {}, headers = {}) => {
      // The last of three attempts, or why there is one attempt only.
      const isListed = policy.on_statuses === undefined;
      const reason = isListed ? (WHY_NOT[failure] ?? WHY_NOT[body]) : 'status_not_retried';
      const whyNot = times === 3 ? 'retry_count_used_up' : reason;
      const upstream = await failing(failure);
      const gateway = opened(
        await startTestDataPath(
          { upstreams: [upstream.url], retry_count: 2, retry: { ...POLICY, ...policy } },
          { environment: { MAX_RETRY_BODY_BYTES: '100000' } },
        ),
      );
      const response = await gateway.call('test', { method, headers, ...BODIES[body]() });
      await response.arrayBuffer();
      expect(upstream.arrivals()).toBe(times);
      const record = await gateway.recordOf(response);
      expect(record.attempts).toHaveLength(times);
      expect(record.retry_count).toBe(times - 1);
      const named = { reset: 'reset', garbage: 'invalid_response', silence: 'attempt_timeout' }[
        failure
      ];
      for (const attempt of record.attempts) {
        expect(attempt).toMatchObject(
          named === undefined ? { status: Number(failure) } : { error: named },
        );
      }
      const made = record.attempts.slice(0, -1).map(({ retry }) => retry?.retried);
      expect(made).toEqual(Array(times - 1).fill(true));
      expect(record.attempts.at(-1)?.retry).toEqual({
        retried: false,
        why: whyNot ?? 'method_not_idempotent',
      });
      const expected = { reset: 502, garbage: 502, silence: 504 }[failure] ?? Number(failure);
      expect(response.status).toBe(expected);
      expect(response.headers.has('x-gateway-error')).toBe(named !== undefined);
    },
  );

  it('stop at the deadline of the request', async () => {
    const upstream = await failing('503');
    const retry = { ...POLICY, backoff_ms: 60_000 };
    const route = { upstreams: [upstream.url], retry_count: 10, timeout_ms: 300, retry };
    const gateway = opened(await startTestDataPath(route));
    const response = await gateway.call('test');
    expect([503, 504]).toContain(response.status);
    const record = await gateway.recordOf(response);
    expect(record.attempts.length).toBeLessThan(10);
    for (const attempt of record.attempts) expect(attempt.started_ms).toBeLessThan(300);
  });

  it('wait for Retry-After if the deadline allows it, and otherwise pass the response on', async () => {
    let retryAfter = '1';
    const upstream = opened(
      await startUpstream((_seen, response) => {
        response.writeHead(503, { 'retry-after': retryAfter }).end('later');
      }),
    );
    const patient = opened(await startTestDataPath({ upstreams: [upstream.url], retry_count: 1 }));
    const record = await patient.recordOf(await patient.call('test'));
    const [first, second] = record.attempts;
    const waitedMs =
      (second?.started_ms ?? 0) - (first?.started_ms ?? 0) - (first?.duration_ms ?? 0);
    expect(waitedMs).toBeGreaterThanOrEqual(950);
    upstream.seen.length = 0;
    retryAfter = '60';
    const short = { upstreams: [upstream.url], retry_count: 1, timeout_ms: 20_000 };
    const impatient = opened(await startTestDataPath(short));
    const response = await impatient.call('test');
    expect(await response.text()).toBe('later');
    expect(response.headers.get('retry-after')).toBe('60');
    expect(upstream.seen).toHaveLength(1);
  });

  it('are at most a fifth of the live requests when an upstream fails for all of them', async () => {
    const requests = 100;
    const arrived = new Map<string, number>();
    const held: (() => void)[] = [];
    let release: (() => void) | undefined;
    const all = new Promise<void>((resolve) => (release = resolve));
    const upstream = opened(
      await startUpstream((seen, response) => {
        const id = String(seen.headers['x-request-id']);
        const before = arrived.get(id) ?? 0;
        arrived.set(id, before + 1);
        const fail = () => response.writeHead(503).end();
        // First attempts fail together, so that all of them are live. Retries are held.
        if (before === 0) {
          void all.then(fail);
          if (arrived.size === requests) release?.();
        } else held.push(fail);
      }),
    );
    const gateway = opened(
      await startTestDataPath({ upstreams: [upstream.url], retry_count: 1, timeout_ms: 20_000 }),
    );
    const calls = Array.from({ length: requests }, () => gateway.call('test'));
    await eventually(() => expect(gateway.records.length + held.length).toBe(requests));
    expect(held.length).toBeGreaterThanOrEqual(3);
    expect(held.length).toBeLessThanOrEqual(requests / 5);
    for (const fail of held) fail();
    const statuses = (await Promise.all(calls)).map((response) => response.status);
    expect(new Set(statuses)).toEqual(new Set([503]));
    expect(upstream.seen).toHaveLength(requests + held.length);
  });
});
