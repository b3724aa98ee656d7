import { describe, expect, it } from '@jest/globals';
import type { Clock } from '@gateway/shared/clock';
import type { ErrorCode } from '@gateway/shared/errors/error-table';
import { GRPC_STATUS, type GrpcStatusName } from '@gateway/shared/http/grpc';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall } from '@gateway/shared/test/raw-client';
import { expectGatewayHeaders } from '@gateway/shared/test/refusal';
import { closedPort, startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';
import { startGrpcDataPath, type GrpcAnswer } from '../../test/grpc-call.ts';
import { patientClock } from '../../test/patient-clock.ts';
import { grpcMessage } from './grpc-error-fields.ts';

const opened = closeAfterEach();

async function setUp(
  route: Partial<SnapshotRoute> = {},
  { url, ...options }: { readonly url?: string; readonly clock?: Clock } = {},
) {
  const upstreams = [url ?? opened(await startUpstream()).url];
  return opened(await startGrpcDataPath({ upstreams, ...route }, options));
}

/** Checks that the gateway itself failed the call, in one frame and with all that an error has. */
function expectFailure(
  answer: GrpcAnswer,
  status: number,
  code: ErrorCode,
  name: GrpcStatusName,
): void {
  const { headers } = answer;
  expect({
    status: answer.status,
    code: headers['x-gateway-error'],
    grpc: headers['grpc-status'],
  }).toEqual({ status, code, grpc: String(GRPC_STATUS[name]) });
  expect(answer.isTrailersOnly).toBe(true);
  expect(answer.bytes).toBe(0);
  // Without an error, also if a part of the request was not sent.
  expect(answer.code).toBe(0);
  expect(headers['content-type']).toBe('application/grpc');
  expect(headers['grpc-message']).toMatch(new RegExp(`^${code}: .`));
  expect(headers['content-length']).toBeUndefined();
  expectGatewayHeaders(
    new Headers(
      Object.entries(headers).filter(([key]) => !key.startsWith(':')) as [string, string][],
    ),
  );
}

describe('an error of the gateway on a gRPC call', () => {
  it('is one block of fields that ends the stream, with the promised status and a gRPC status', async () => {
    const gateway = await setUp();
    const answer = await gateway.grpc({ authorization: 'Bearer no' });
    expectFailure(answer, 401, 'authentication_failed', 'UNAUTHENTICATED');
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
    const missing = await gateway.grpc({ ':path': '/v1/proxy/missing/a' });
    expectFailure(missing, 404, 'route_not_found', 'UNIMPLEMENTED');
    const nowhere = await gateway.grpc({ ':path': '/pkg.Service/Method' });
    expectFailure(nowhere, 404, 'not_found', 'UNIMPLEMENTED');
    expect(nowhere.headers['grpc-message']).toContain('No route takes this host and path');
    const looped = await gateway.grpc({
      via: Array.from({ length: 9 }, () => '1.1 gateway').join(),
    });
    expectFailure(looped, 400, 'invalid_request', 'INVALID_ARGUMENT');
    expect(looped.headers['grpc-message']).toContain('the request is in a loop');
  });

  it('tells a caller beyond its quota when to come back', async () => {
    const rate_limit = { limit: 1, window_seconds: 3600, per: 'route' as const };
    const gateway = await setUp({ rate_limit: { ...rate_limit, on_store_unavailable: 'share' } });
    await gateway.grpc();
    const answer = await gateway.grpc();
    expectFailure(answer, 429, 'rate_limit_exceeded', 'RESOURCE_EXHAUSTED');
    const seconds = Number(answer.headers['retry-after']);
    expect(seconds).toBeGreaterThan(0);
    expect(answer.headers['grpc-retry-pushback-ms']).toBe(String(seconds * 1000));
    const record = await gateway.recordOf(String(answer.headers['x-request-id']));
    expect(record).toMatchObject({
      status: 429,
      error_code: 'rate_limit_exceeded',
      response_bytes: 0,
    });
  });

  it('does not ask for a repeat of what the upstream may have carried out', async () => {
    const broken = opened(
      await startRawUpstream((socket) => {
        socket.once('data', () => socket.destroy());
      }),
    );
    const gateway = await setUp({}, { url: broken.url });
    expectFailure(await gateway.grpc(), 502, 'upstream_unavailable', 'UNKNOWN');
  });

  it('asks for a repeat of what could not be sent', async () => {
    const gateway = await setUp({}, { url: `http://127.0.0.1:${await closedPort()}` });
    expectFailure(await gateway.grpc(), 502, 'upstream_unavailable', 'UNAVAILABLE');
  });

  it('says that the time is over', async () => {
    const silent = opened(await startRawUpstream((socket) => void socket.resume()));
    const gateway = await setUp({ timeout_ms: 400 }, { url: silent.url, clock: patientClock });
    expectFailure(await gateway.grpc(), 504, 'upstream_timeout', 'DEADLINE_EXCEEDED');
  });

  it('ends a stream whose request has not ended', async () => {
    const gateway = await setUp({ max_body_bytes: 4 });
    expectFailure(await gateway.grpc({}, null), 413, 'payload_too_large', 'RESOURCE_EXHAUSTED');
  });

  it('has no body over HTTP/1.1 either, and keeps the connection', async () => {
    const gateway = await setUp();
    const answer = await rawCall(gateway.port, {
      method: 'POST',
      lines: ['Host: gateway.test', 'Content-Type: application/grpc', 'Content-Length: 0'],
    });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('content-type')).toBe('application/grpc');
    expect(answer.headers.get('grpc-status')).toBe('16');
    expect(answer.headers.get('content-length')).toBe('0');
    expect(answer.headers.get('connection')).toBe('keep-alive');
    expect(await answer.text()).toBe('');
  });

  it.each(['application/grpc-web+proto', 'application/connect+proto', 'application/json'])(
    'is the envelope for %s',
    async (type) => {
      const gateway = await setUp();
      const answer = await gateway.grpc({ authorization: 'Bearer no', 'content-type': type });
      expect(answer.status).toBe(401);
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(answer.headers['grpc-status']).toBeUndefined();
      expect(answer.bytes).toBeGreaterThan(0);
    },
  );
});

describe('an error on a route with grpc_errors: trailers', () => {
  it('has the HTTP status 200 beside the same fields, and its own status in the record and metrics', async () => {
    const gateway = await setUp({ grpc_errors: 'trailers', max_body_bytes: 4 });
    const answer = await gateway.grpc();
    expectFailure(answer, 200, 'payload_too_large', 'RESOURCE_EXHAUSTED');
    const record = await gateway.recordOf(String(answer.headers['x-request-id']));
    expect(record).toMatchObject({
      status: 413,
      error_code: 'payload_too_large',
      grpc_status: GRPC_STATUS.RESOURCE_EXHAUSTED,
      outcome: 'rejected',
    });
    const metrics = await gateway.registry.metrics();
    expect(metrics).toContain('code="payload_too_large"');
    expect(metrics).not.toMatch(/status="200"/);
  });

  it('has the status of the error if the request is no gRPC call', async () => {
    const gateway = await setUp({ grpc_errors: 'trailers', max_body_bytes: 4 });
    const answer = await gateway.grpc({ 'content-type': 'application/json' });
    expect(answer.status).toBe(413);
  });

  it('does not say to anybody without a right to the route that it exists', async () => {
    const gateway = await setUp({ grpc_errors: 'trailers' });
    const fields = { authorization: 'Bearer no' };
    for (const name of ['test', 'missing']) {
      const answer = await gateway.grpc({ ...fields, ':path': `/v1/proxy/${name}/a` });
      expectFailure(answer, 401, 'authentication_failed', 'UNAUTHENTICATED');
    }
  });

  it('is the same for every caller of a route that its host has made public', async () => {
    const match = [{ hosts: ['grpc.test'], paths: [{ prefix: '/' }], headers: [] }];
    const gateway = await setUp({ grpc_errors: 'trailers', match });
    const answer = await gateway.grpc({
      ':authority': 'grpc.test',
      ':path': '/pkg.Service/Method',
      authorization: 'Bearer no',
    });
    expectFailure(answer, 200, 'authentication_failed', 'UNAUTHENTICATED');
  });
});

describe('a gRPC message', () => {
  it('is percent-encoded UTF-8, with no other characters than visible ASCII and spaces', () => {
    expect(grpcMessage('a b~')).toBe('a b~');
    expect(grpcMessage('100 %\r\n')).toBe('100 %25%0D%0A');
    expect(grpcMessage('é€𝄞\x7f')).toBe('%C3%A9%E2%82%AC%F0%9D%84%9E%7F');
  });
});
