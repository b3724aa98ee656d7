import { grpcStatusText, isGrpcFailure } from '@gateway/client/grpc-status';
import { GRPC_STATUS } from '@gateway/shared/http/grpc';
import { isGrpcServerError } from '@gateway/shared/http/grpc-status';
import { expect, it } from '@jest/globals';

it('gRPC statuses have the names and the meaning that data planes give them', () => {
  for (const [name, status] of Object.entries(GRPC_STATUS)) {
    expect(grpcStatusText(status)).toBe(`${status} ${name}`);
    expect(isGrpcFailure(status)).toBe(isGrpcServerError(status));
  }
  expect(grpcStatusText(17)).toBe('17');
  expect([null, undefined, 17].map(isGrpcFailure)).toEqual([false, false, false]);
});
