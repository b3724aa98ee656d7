import { grpcStatusOf, grpcStatusText, isGrpcFailure } from '@gateway/client/grpc-status';
import { GRPC_STATUS } from '@gateway/shared/http/grpc';
import { isGrpcServerError } from '@gateway/shared/http/grpc-status';
import { expect, it } from '@jest/globals';

it('gRPC statuses have the names and the meaning that data planes give them', () => {
  for (const [name, status] of Object.entries(GRPC_STATUS)) {
    expect(grpcStatusText(status)).toBe(`${status} ${name}`);
    expect([name, name.toLowerCase(), String(status)].map(grpcStatusOf)).toEqual(
      Array(3).fill(status),
    );
    expect(isGrpcFailure(status)).toBe(isGrpcServerError(status));
  }
  expect(['17', '-1', '1.5', '', 'UNAVAILABL'].map(grpcStatusOf)).toEqual(Array(5).fill(undefined));
  expect(grpcStatusText(17)).toBe('17');
  expect([null, undefined, 17].map(isGrpcFailure)).toEqual([false, false, false]);
});
