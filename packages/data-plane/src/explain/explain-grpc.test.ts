import { describe, expect, it } from '@jest/globals';
import type { Explanation } from '@gateway/shared/explain/explanation';
import { GRPC_STATUS } from '@gateway/shared/http/grpc';
import { nameOfGrpcStatus } from '@gateway/shared/http/grpc-status';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath, type TestDataPath } from '../../test/data-path.ts';

const opened = closeAfterEach();
const message = Buffer.from([0, 0, 0, 0, 1, 7]);
const grpc = { 'content-type': 'application/grpc' };

/** An upstream whose responses are a head with the status that the path names. */
const upstream = () =>
  startUpstream(({ url }, response) => {
    response.writeHead(200, { 'grpc-status': url.slice(1), 'content-length': 0 }).end();
  });

const retrying = (retry: Partial<SnapshotRoute['retry']> = {}): Partial<SnapshotRoute> => ({
  retry_count: 1,
  retry: {
    on_statuses: [503],
    per_attempt_timeout_ms: null,
    backoff_ms: 0,
    unsafe_methods: 'always',
    ...retry,
  },
});

const unlimited = {
  view: () =>
    Promise.resolve({
      ...{ basis: 'lease' as const, granted: true, grantedToAll: 0, leased: 1 },
      ...{ limit: 1, remaining: 1, resetSeconds: 1 },
    }),
};

async function explained(
  gateway: TestDataPath,
  headers: Readonly<Record<string, string>> = grpc,
): Promise<Explanation['grpc']> {
  const fields = Object.entries({
    host: 'gateway',
    authorization: `Bearer ${gateway.token}`,
    ...headers,
  }).flat();
  const said = await gateway.explainWith(unlimited)({
    ...{ format: 1, method: 'POST', path: '/v1/proxy/test/14', query: '', fields },
    ...{ body: message.toString('latin1'), token_id: null, client_ip: '127.0.0.1', asked: null },
  });
  expect(said.outcome).toMatchObject({ decision: 'forward' });
  return said.grpc;
}

async function calledTimes(gateway: TestDataPath, { seen }: TestUpstream, status: number) {
  const before = seen.length;
  const response = await gateway.call(`test/${status}`, {
    method: 'POST',
    headers: grpc,
    body: message,
  });
  await response.arrayBuffer();
  return seen.length - before;
}

async function open(route: Partial<SnapshotRoute>, environment = {}) {
  const called = opened(await upstream());
  const upstreams = [called.url];
  const gateway = opened(await startTestDataPath({ upstreams, ...route }, { environment }));
  return { called, gateway };
}

describe('what explain says of the gRPC statuses that are retried', () => {
  it.each<[string, Partial<SnapshotRoute>, Readonly<Record<string, string>>?]>([
    ['503 may be retried', retrying()],
    ['503 is not in on_statuses', retrying({ on_statuses: [502] })],
    ['the method may not be repeated', retrying({ unsafe_methods: 'never' })],
    ['there are no retries', { ...retrying(), retry_count: 0 }],
    ['the body is not kept', retrying(), { MAX_RETRY_BODY_BYTES: '0' }],
  ])('is what happens to each status if %s', async (_when, route, environment = {}) => {
    const { called, gateway } = await open(route, environment);
    const retried: string[] = [];
    for (const status of Object.values(GRPC_STATUS)) {
      const times = await calledTimes(gateway, called, status);
      if (times > 1) retried.push(nameOfGrpcStatus(status));
    }
    expect((await explained(gateway))?.retried).toEqual(retried);
  });

  it.each([
    [
      retrying(),
      'the call is retried after UNAVAILABLE, which counts as the status 503. After a message',
    ],
    [retrying({ on_statuses: [502] }), 'the status 503, but retry.on_statuses does not have 503.'],
    [
      retrying({ unsafe_methods: 'with_idempotency_key' }),
      'but POST is not idempotent, and retry.unsafe_methods is with_idempotency_key.',
    ],
    [{ ...retrying(), retry_count: 0 }, 'the status 503, but retry_count is 0.'],
  ])('has the reason that decides', async (route, reason) => {
    const { gateway } = await open(route);
    expect((await explained(gateway))?.reason).toContain(reason);
  });

  it('depends on the idempotency key of the call', async () => {
    const { gateway } = await open(retrying({ unsafe_methods: 'with_idempotency_key' }));
    const keyed = { ...grpc, 'idempotency-key': 'k' };
    expect((await explained(gateway, keyed))?.retried).toEqual(['UNAVAILABLE']);
  });

  it('is said of gRPC calls only', async () => {
    const { gateway } = await open(retrying());
    expect(await explained(gateway, { 'content-type': 'application/grpc-web' })).toBeNull();
  });
});

it('says which gRPC statuses eject an upstream', async () => {
  const { gateway: asked } = await open({});
  const said = await explained(asked);
  for (const [name, status] of Object.entries(GRPC_STATUS)) {
    const [failing, working] = [opened(await upstream()), opened(await startUpstream())];
    const upstreams = [failing.url, working.url];
    const gateway = opened(await startTestDataPath({ upstreams, retry_count: 0 }));
    const isEjected = () => gateway.logLines.some((line) => line.includes('"to":"ejected"'));
    while (failing.seen.length < 6 && !isEjected()) await calledTimes(gateway, working, status);
    expect([name, isEjected()]).toEqual([name, said?.against_upstream.includes(name)]);
  }
});

describe('the end of a refused gRPC call', () => {
  it.each([
    ['as the error', 'status', 401],
    ['in trailers, but not of whoever may not use the route', 'trailers', 401],
  ] as const)('has the statuses that the caller gets: %s', async (_what, grpc_errors, status) => {
    const gateway = opened(await startTestDataPath({ upstreams: [], grpc_errors }));
    const authorization = 'Bearer unknown';
    const end = { status, grpc_status: GRPC_STATUS.UNAUTHENTICATED };
    await expectSameEnd(gateway, { authorization }, end);
  });

  it('has the status 200 if the route wants it in trailers', async () => {
    const route = { upstreams: [], grpc_errors: 'trailers', max_body_bytes: 1 } as const;
    const gateway = opened(await startTestDataPath(route));
    const authorization = `Bearer ${gateway.token}`;
    const end = { status: 200, grpc_status: GRPC_STATUS.RESOURCE_EXHAUSTED };
    await expectSameEnd(gateway, { authorization }, end);
  });

  async function expectSameEnd(gateway: TestDataPath, headers: object, expected: object) {
    const sent = { ...grpc, ...headers };
    const response = await gateway.call('test/x', { method: 'POST', headers: sent, body: message });
    await response.arrayBuffer();
    const grpc_status = Number(response.headers.get('grpc-status'));
    expect({ status: response.status, grpc_status }).toEqual(expected);
    const said = await gateway.explainWith(unlimited)({
      ...{ format: 1, method: 'POST', path: '/v1/proxy/test/x', query: '' },
      ...{ fields: Object.entries({ host: 'gateway', ...sent }).flat() },
      ...{ body: message.toString('latin1'), token_id: null, client_ip: '127.0.0.1', asked: null },
    });
    expect(said.outcome).toMatchObject({ decision: 'refuse', ...expected });
  }
});
