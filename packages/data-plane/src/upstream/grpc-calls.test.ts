import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { startUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath, type TestDataPath } from '../../test/data-path.ts';
import { keySettings } from '../../test/keyed-request.ts';

const opened = closeAfterEach();

type Answer = (response: ServerResponse) => void;

const message = Buffer.from([0, 0, 0, 0, 1, 7]);

/** A head that has the status, and nothing after it. */
const only =
  (status: number, fields: Readonly<Record<string, string>> = {}): Answer =>
  (response) =>
    void response.writeHead(200, { 'grpc-status': status, 'content-length': 0, ...fields }).end();

/** A status in the trailers after this many messages. */
const after =
  (messages: number, status: number | undefined): Answer =>
  (response) => {
    response.writeHead(200, { trailer: 'grpc-status' });
    response.flushHeaders();
    for (let sent = 0; sent < messages; sent += 1) response.write(message);
    if (status !== undefined) response.addTrailers({ 'grpc-status': String(status) });
    response.end();
  };

/** An upstream that ends its calls in this order, and all further ones as the last. */
async function scripted(...script: readonly Answer[]) {
  const upstream = opened(
    await startUpstream((_seen, response) => {
      (script[upstream.seen.length - 1] ?? script.at(-1))?.(response);
    }),
  );
  return upstream;
}

const open = async (
  upstreams: readonly { readonly url: string }[],
  route: Partial<SnapshotRoute> = {},
) => {
  const urls = upstreams.map(({ url }) => url);
  return opened(await startTestDataPath({ upstreams: urls, retry_count: 0, ...route }));
};

/** Makes a call, and returns its record. A response that breaks off is one too. */
async function call(gateway: TestDataPath, headers: Readonly<Record<string, string>> = {}) {
  const response = await gateway.call('test', {
    method: 'POST',
    headers: { 'content-type': 'application/grpc+proto', ...headers },
    body: message,
  });
  await response.arrayBuffer().catch(() => undefined);
  return gateway.recordOf(response);
}

describe('a gRPC call with messages', () => {
  it.each([
    [0, 'success'],
    [5, 'success'],
    [13, 'upstream_error'],
    [14, 'upstream_error'],
  ])('ends with the status %i of its trailers: %s', async (status, outcome) => {
    const gateway = await open([await scripted(after(3, status))]);
    const record = await call(gateway);
    expect(record).toMatchObject({ status: 200, grpc_status: status, outcome });
    expect(record.attempts).toMatchObject([{ status: 200, grpc_status: status }]);
  });

  it('ends with UNKNOWN without trailers, as clients report it', async () => {
    const gateway = await open([await scripted(after(1, undefined))]);
    expect(await call(gateway)).toMatchObject({ grpc_status: 2, outcome: 'upstream_error' });
  });

  it('has no status in its head, where clients ignore it', async () => {
    const gateway = await open([
      await scripted((response) => {
        response.writeHead(200, { 'grpc-status': '0' });
        response.end(message);
      }),
    ]);
    expect(await call(gateway)).toMatchObject({ grpc_status: 2, outcome: 'upstream_error' });
  });

  it('is no success if it breaks off before its trailers', async () => {
    const gateway = await open([
      await scripted((response) => {
        response.writeHead(200);
        response.write(message, () => response.socket?.destroy());
      }),
    ]);
    expect(await call(gateway)).toMatchObject({
      status: 200,
      grpc_status: null,
      outcome: 'upstream_error',
    });
  });
});

const retrying = (unsafe_methods: SnapshotRoute['retry']['unsafe_methods']) => ({
  retry_count: 2,
  retry: { on_statuses: [503], per_attempt_timeout_ms: null, backoff_ms: 0, unsafe_methods },
});

describe('retries of gRPC calls', () => {
  it('follow UNAVAILABLE without a message if 503 is retried and the method may be repeated', async () => {
    const upstream = await scripted(only(14), only(14), after(1, 0));
    const record = await call(await open([upstream], retrying('always')));
    const retry = { retried: true, why: 'unsafe_methods_always' };
    expect(record).toMatchObject({ grpc_status: 0, outcome: 'success', retry_count: 2 });
    expect(record.attempts).toMatchObject([
      { status: 200, grpc_status: 14, retry },
      { status: 200, grpc_status: 14, retry },
      { status: 200, grpc_status: 0 },
    ]);
    expect(upstream.seen.map(({ body }) => body)).toEqual(
      Array(3).fill(message.toString('latin1')),
    );
  });

  it('do not follow it by default: the server may have done its work before', async () => {
    const record = await call(await open([await scripted(only(14))], retrying('never')));
    expect(record).toMatchObject({ grpc_status: 14, retry_count: 0 });
    expect(record.attempts[0]?.retry).toEqual({ retried: false, why: 'method_not_idempotent' });
  });

  it('do not follow it if the route does not retry 503', async () => {
    const { retry } = retrying('always');
    const route = { retry_count: 2, retry: { ...retry, on_statuses: [502] } };
    const record = await call(await open([await scripted(only(14))], route));
    expect(record.attempts[0]?.retry).toEqual({ retried: false, why: 'status_not_retried' });
  });

  it.each([1, 2, 4, 8, 10, 12, 13, 15])('do not follow the status %i', async (status) => {
    const record = await call(await open([await scripted(only(status))], retrying('always')));
    expect(record).toMatchObject({ grpc_status: status, retry_count: 0 });
    expect(record.attempts[0]?.retry).toEqual({ retried: false, why: 'status_not_retried' });
  });

  it('do not follow UNAVAILABLE in trailers: the head is at the caller', async () => {
    const upstream = await scripted(after(0, 14));
    const record = await call(await open([upstream], retrying('always')));
    expect(record).toMatchObject({ grpc_status: 14, retry_count: 0 });
    expect(upstream.seen).toHaveLength(1);
  });

  it('do not follow it if the upstream forbids them', async () => {
    const upstream = await scripted(only(14, { 'grpc-retry-pushback-ms': '-1' }));
    const record = await call(await open([upstream], retrying('always')));
    expect(record.attempts[0]?.retry).toEqual({ retried: false, why: 'upstream_forbids' });
  });
});

/** How often each of two upstreams was called in 40 calls, the first of which answers so. */
async function spread(answer: Answer): Promise<readonly number[]> {
  const upstreams = [await scripted(answer), await scripted(after(1, 0))];
  const gateway = await open(upstreams);
  for (let count = 0; count < 40; count += 1) await call(gateway);
  return upstreams.map(({ seen }) => seen.length);
}

describe('an upstream of gRPC calls', () => {
  it.each([
    ['without a message', only(14)],
    ['in trailers', after(0, 14)],
    ['in trailers after messages', after(2, 14)],
  ])('is ejected by five calls in a row that end with UNAVAILABLE %s', async (_where, answer) => {
    expect(await spread(answer)).toEqual([5, 35]);
  });

  it.each([
    ['INTERNAL without a message', only(13)],
    ['DEADLINE_EXCEEDED in trailers', after(1, 4)],
    ['no status', after(1, undefined)],
  ])('is not ejected by calls that end with %s', async (_what, answer) => {
    const [called = 0] = await spread(answer);
    expect(called).toBeGreaterThan(5);
  });
});

describe('an idempotency key of a gRPC call', () => {
  const keyed = (gateway: TestDataPath) => call(gateway, { 'idempotency-key': 'k' });

  it('lets the same call run again after RESOURCE_EXHAUSTED without a message, as after 429', async () => {
    for (const refusal of [only(8), after(0, 8)]) {
      const gateway = await open([await scripted(refusal, only(0))]);
      const results = [await keyed(gateway), await keyed(gateway), await keyed(gateway)];
      expect(results.map(({ idempotency }) => idempotency)).toEqual([
        'first',
        'repeated',
        'replayed',
      ]);
      expect(results.map(({ grpc_status }) => grpc_status)).toEqual([8, 0, 0]);
    }
  });

  it.each([
    ['after a message', after(1, 8), {}],
    ['if the route does not repeat 429', only(8), { repeatable_statuses: [503] }],
    ['after UNAVAILABLE', only(14), { repeatable_statuses: [429, 503] }],
  ])('does not %s', async (_when, answer, keys) => {
    const gateway = await open([await scripted(answer, only(0))], {
      idempotency: keySettings(keys),
    });
    const results = [await keyed(gateway), await keyed(gateway)];
    expect(results.map(({ idempotency }) => idempotency)).toEqual(['first', 'replayed']);
  });
});

it('counts the ends of gRPC calls by route, logs them, and adds none for other requests', async () => {
  const gateway = await open([await scripted(only(14), after(1, 0), after(1, 0))]);
  await call(gateway);
  await call(gateway);
  await gateway.call('test', { method: 'POST', body: 'plain' });
  const text = await gateway.registry.getSingleMetricAsString('gateway_grpc_responses_total');
  expect(text.split('\n').filter((line) => line.startsWith('gateway_'))).toEqual([
    'gateway_grpc_responses_total{environment="production",route="test",grpc_status="14"} 1',
    'gateway_grpc_responses_total{environment="production",route="test",grpc_status="0"} 1',
  ]);
  const attempts = await gateway.registry.getSingleMetricAsString(
    'gateway_upstream_attempts_total',
  );
  expect(attempts).toContain('{service_id="svc_test",result="grpc_unavailable"} 1');
  expect(attempts).toContain('{service_id="svc_test",result="200"} 2');
  await gateway.stop();
  const lines = gateway.logLines.filter((line) => line.includes('"body":"request"'));
  expect(
    lines.map((line) => (JSON.parse(line) as object)['rpc.grpc.status_code' as never]),
  ).toEqual([14, 0, undefined]);
});
