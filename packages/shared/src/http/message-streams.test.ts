import { describe, expect, it } from '@jest/globals';
import { isMessageStream } from './message-streams.ts';

describe('a body of messages that follow their lengths', () => {
  it.each([
    'application/grpc',
    'application/grpc+proto',
    'APPLICATION/GRPC;charset=utf-8',
    'application/grpc-web',
    'application/grpc-web+json; x=y',
    'application/connect+proto',
    'application/connect+json ;x=y',
  ])('has the type %s', (type) => {
    expect(isMessageStream(type)).toBe(true);
  });

  it.each([
    undefined,
    '',
    'application/json',
    'application/proto',
    'application/grpc-web-text',
    'application/grpc-web-text+proto',
    'application/grpcx',
    'application/connect',
    'application/connect-json',
    'text/application/grpc',
  ])('has not the type %s', (type) => {
    expect(isMessageStream(type)).toBe(false);
  });
});
