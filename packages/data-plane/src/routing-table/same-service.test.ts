import { describe, expect, it } from '@jest/globals';
import {
  UPSTREAM_PROTOCOLS,
  WEBSOCKET_PROTOCOLS,
} from '@gateway/shared/definitions/service-protocol';
import {
  SNAPSHOT_FORMAT,
  type Snapshot,
  type SnapshotService,
} from '@gateway/shared/snapshot/schema';
import fc from 'fast-check';
import { runAtOnce } from '@gateway/shared/pace';
import { compileEnvironment } from './compile.ts';
const compile = (...args: Parameters<typeof compileEnvironment>) =>
  runAtOnce(compileEnvironment(...args));

const fields = {
  id: fc.constant('svc_1'),
  name: fc.constantFrom('a', 'b'),
  revision: fc.nat(3),
  upstreams: fc.array(
    fc.record({
      id: fc.constantFrom('ups_1', 'ups_2'),
      url: fc.constantFrom('http://a.test', 'http://a.test/base', 'https://b.test'),
      region: fc.constantFrom('eu', 'us', null),
      weight: fc.integer({ min: 1, max: 2 }),
    }),
    { minLength: 1, maxLength: 2 },
  ),
  health_check: fc.record({
    type: fc.constantFrom('http', 'grpc'),
    grpc_service: fc.constantFrom('', 'a.B'),
    path: fc.constantFrom('/', '/healthz'),
    interval_ms: fc.constantFrom(500, 5000),
    timeout_ms: fc.constantFrom(100, 500),
    healthy_threshold: fc.constantFrom(1, 2),
    unhealthy_threshold: fc.constantFrom(1, 3),
  }),
  protocol: fc.constantFrom(...UPSTREAM_PROTOCOLS),
  websocket_protocol: fc.constantFrom(...WEBSOCKET_PROTOCOLS),
  send_via: fc.boolean(),
  limits: fc.record({
    max_in_flight: fc.constantFrom(1, null),
    max_connections: fc.constantFrom(1, null),
    max_pending: fc.constantFrom(0, null),
    adaptive: fc.boolean(),
  }),
};

const plain = fc.record(fields);
const sealed = fc.record({
  key_id: fc.constantFrom('k1', 'k2'),
  sealed: fc.constantFrom('a', 'b'),
});
const service: fc.Arbitrary<SnapshotService> = fc.oneof(
  plain,
  fc.record({ ...fields, credential: sealed }),
);

const snapshotOf = (one: SnapshotService): Snapshot => ({
  format: SNAPSHOT_FORMAT,
  environment: 'production',
  version: 1,
  routes: [],
  tokens: [],
  services: [one],
});

describe('a service in a new configuration', () => {
  it('is the same object if nothing has changed', () => {
    fc.assert(
      fc.property(service, (one) => {
        const before = compile(snapshotOf(one));
        const after = compile(snapshotOf(structuredClone(one)), before);
        expect(after.services.get('svc_1')).toBe(before.services.get('svc_1'));
      }),
    );
  });

  it('always equals a service compiled without a previous table', () => {
    fc.assert(
      fc.property(service, service, (one, other) => {
        const before = compile(snapshotOf(one));
        expect(compile(snapshotOf(other), before)).toEqual(compile(snapshotOf(other)));
      }),
    );
  });

  it('is another peer with another protocol, which shares no connection with it', () => {
    fc.assert(
      fc.property(service, (one) => {
        const keys = UPSTREAM_PROTOCOLS.flatMap((protocol) =>
          (compile(snapshotOf({ ...one, protocol })).services.get('svc_1')?.upstreams ?? [])
            .slice(0, 1)
            .map(({ key }) => key),
        );
        expect(new Set(keys).size).toBe(UPSTREAM_PROTOCOLS.length);
      }),
    );
  });
});
