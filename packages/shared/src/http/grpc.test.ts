import { describe, expect, it } from '@jest/globals';
import { isGrpcContentType } from './grpc.ts';

describe('a gRPC request', () => {
  it.each([
    'application/grpc',
    'application/grpc+proto',
    'application/grpc+json',
    'application/grpc;charset=utf-8',
    'application/grpc+',
    'Application/GRPC+proto',
  ])('is one with the content type %s', (type) => {
    expect(isGrpcContentType(type)).toBe(true);
  });

  it.each([
    undefined,
    '',
    'application/grp',
    'application/grpc-web',
    'application/grpc-web+proto',
    'application/grpc-web-text',
    'application/grpcx',
    'application/json',
    'application/connect+proto',
    'application/proto',
    'application/grpc, text/plain',
    'text/plain, application/grpc',
    ' application/grpc',
    'applicationXgrpc',
  ])('is none with %s', (type) => {
    expect(isGrpcContentType(type)).toBe(false);
  });
});
