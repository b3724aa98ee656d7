import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath } from '../../test/data-path.ts';

const opened = closeAfterEach();

const GRPC = { method: 'POST', headers: { 'content-type': 'application/grpc' }, body: 'request' };

/** A gateway before an upstream that answers with these fields and no message, and the record of one call. */
async function recordOf(
  fields: Readonly<Record<string, string>>,
  { status = 200, body = '', request = GRPC }: { status?: number; body?: string; request?: object },
) {
  const upstream = opened(
    await startUpstream((_seen, response) => {
      response.writeHead(status, { 'content-length': body.length, ...fields }).end(body);
    }),
  );
  const gateway = opened(await startTestDataPath({ upstreams: [upstream.url], retry_count: 0 }));
  const response = await gateway.call('test', request);
  await response.text();
  return gateway.recordOf(response);
}

describe('the record of a gRPC call without a message', () => {
  it.each([
    [0, 'success'],
    [1, 'success'],
    [2, 'upstream_error'],
    [3, 'success'],
    [4, 'upstream_error'],
    [5, 'success'],
    [6, 'success'],
    [7, 'success'],
    [8, 'success'],
    [9, 'success'],
    [10, 'success'],
    [11, 'success'],
    [12, 'upstream_error'],
    [13, 'upstream_error'],
    [14, 'upstream_error'],
    [15, 'upstream_error'],
    [16, 'success'],
  ])('has the status %i, whose outcome is %s', async (grpcStatus, outcome) => {
    const record = await recordOf({ 'grpc-status': String(grpcStatus) }, {});
    expect(record).toMatchObject({
      status: 200,
      grpc_status: grpcStatus,
      outcome,
      attempts: [{ status: 200, grpc_status: grpcStatus }],
    });
  });

  it.each(['', '17', '-1', '1.0', '0x1', 'OK', '99999'])(
    'has UNKNOWN for the malformed status "%s", as clients report it',
    async (value) => {
      const record = await recordOf({ 'grpc-status': value }, {});
      expect(record).toMatchObject({ grpc_status: 2, outcome: 'upstream_error' });
    },
  );

  it('has UNKNOWN if it has no status', async () => {
    expect(await recordOf({}, {})).toMatchObject({ grpc_status: 2, outcome: 'upstream_error' });
  });

  it('has none if a status of HTTP says what has happened', async () => {
    const record = await recordOf({}, { status: 404, body: 'no such page' });
    expect(record).toMatchObject({ status: 404, grpc_status: null, outcome: 'success' });
  });
});

it('a request that is no gRPC call has no gRPC status, whatever its response has', async () => {
  const record = await recordOf(
    { 'grpc-status': '14' },
    { request: { method: 'POST', body: 'x' } },
  );
  expect(record).toMatchObject({ status: 200, grpc_status: null, outcome: 'success' });
  expect(record.attempts[0]).not.toHaveProperty('grpc_status');
});
