import { describe, expect, it } from '@jest/globals';
import { fieldValue } from '@gateway/http/fields/header-fields';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startGrpcDataPath } from '../../test/grpc-call.ts';
import { AuthFailures } from '../access/auth-failures.ts';
import { createRefusalWriter } from './refusal.ts';

const opened = closeAfterEach();
const ADDRESS = '192.0.2.1';

const writer = createRefusalWriter({
  makeId: () => 'req_1',
  failures: new AuthFailures(10, 10),
  clock: manualClock(),
});

describe('a request for which no stream is free', () => {
  it('may be repeated if it is a gRPC call: its response says so, and that nothing was done', () => {
    const { status, fields } = writer.unhandled(ADDRESS, 'application/grpc') ?? {};
    expect(status).toBe(503);
    const of = (name: string) => fieldValue(fields ?? [], name);
    expect(of('x-gateway-error')).toBe('gateway_overloaded');
    expect(of('x-request-id')).toBe('req_1');
    expect(of('grpc-status')).toBe('14');
    expect(of('grpc-message')).toMatch(/^gateway_overloaded: The call was not handled/);
    expect(of('content-length')).toBeUndefined();
  });

  it.each([undefined, 'application/json', 'application/grpc-web'])(
    'is left to the engine if its content type is %s',
    (type) => {
      expect(writer.unhandled(ADDRESS, type)).toBeUndefined();
    },
  );
});

describe('a gRPC call whose head is too large', () => {
  it('gets a gRPC status, wherever its content type is among its fields', async () => {
    const gateway = opened(
      await startGrpcDataPath(
        { upstreams: ['http://127.0.0.1:1'] },
        { environment: { MAX_HEADER_BYTES: '4096' } },
      ),
    );
    // The content type is the last field.
    const answer = await gateway.grpc({ x: 'y'.repeat(5000), 'content-type': 'application/grpc' });
    expect(answer).toMatchObject({ status: 431, isTrailersOnly: true, bytes: 0, code: 0 });
    expect(answer.headers).toMatchObject({
      'x-gateway-error': 'header_fields_too_large',
      'content-type': 'application/grpc',
      'grpc-status': '8',
    });
  });
});
