import { describe } from '@jest/globals';
import { startHttp2Gateway } from './grpc/http2-gateway.ts';
import { OVER_HTTP2 } from './grpc/pairs.ts';
import { testPairs } from './harness/test-pairs.ts';

describe('a client of gRPC or Connect sees through a route what it sees direct', () => {
  testPairs(OVER_HTTP2, 60_000, startHttp2Gateway);
});
