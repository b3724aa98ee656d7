import { describe } from '@jest/globals';
import { startHttp2Gateway } from './grpc/http2-gateway.ts';
import { OVER_HTTP2_LONG } from './grpc/pairs.ts';
import { testPairs } from './harness/test-pairs.ts';

describe('a client of gRPC sees through a route what it sees direct', () => {
  testPairs(OVER_HTTP2_LONG, 300_000, startHttp2Gateway);
});
