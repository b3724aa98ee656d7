import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@gateway/shared/clock';
import { Http2Client } from '@gateway/http/http2/client/client';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import { guardedLookup } from '../dns/guarded-lookup.ts';
import { UpstreamPools } from '../upstream-pools.ts';
import { createUpstreamCheck } from './check-upstream.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

interface Asked {
  readonly path: string | undefined;
  readonly type: string | undefined;
  readonly te: string | undefined;
  readonly body: string;
}

/** The result of a check of a server that answers so, and what it was asked. */
async function checked(answer: (stream: ServerHttp2Stream) => void, grpcService = 'a.B') {
  const asked: Asked[] = [];
  const server = createServer();
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    const parts: Buffer[] = [];
    stream.on('error', () => undefined);
    stream.on('data', (part: Buffer) => void parts.push(part));
    stream.on('end', () => {
      const { ':path': path, 'content-type': type, te } = headers;
      asked.push({ path, type, te: String(te), body: Buffer.concat(parts).toString('hex') });
      answer(stream);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const none = parseAddressRanges([]);
  const pools = new UpstreamPools({
    clock: systemClock,
    deny: none,
    lookup: guardedLookup(none),
    http2: new Http2Client({ clock: systemClock, maxWindowBytes: 0 }),
    maxConnections: 10,
    processes: 1,
    connectTimeoutMs: 5000,
    bodyIdleTimeoutMs: 5000,
    internalError: () => undefined,
  });
  closers.push(() => pools.close());
  const at = {
    key: `svc ups ${origin}`,
    id: 'ups',
    serviceId: 'svc',
    url: origin,
    origin,
    host: new URL(origin).host,
    basePath: '',
    region: null,
    weight: 1,
    protocol: 'http2' as const,
  };
  const result = await createUpstreamCheck(pools)(at, { grpcService }, 5000);
  return { result, asked };
}

const GRPC = { ':status': 200, 'content-type': 'application/grpc' };

/** A response with this serving status. */
const serving =
  (status: number, grpcStatus = '0') =>
  (stream: ServerHttp2Stream) => {
    stream.respond(GRPC, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': grpcStatus }));
    stream.end(Buffer.from([0, 0, 0, 0, 2, 8, status]));
  };

const only = (fields: Readonly<Record<string, string | number>>) => (stream: ServerHttp2Stream) => {
  stream.respond({ ...GRPC, ...fields }, { endStream: true });
};

describe('a check with grpc.health.v1', () => {
  it('asks for the service, and finds that it serves', async () => {
    const { result, asked } = await checked(serving(1));
    expect(result).toEqual({ verdict: 'good', detail: 'grpc_serving' });
    expect(asked).toEqual([
      {
        path: '/grpc.health.v1.Health/Check',
        type: 'application/grpc',
        te: 'trailers',
        body: '00000000050a03612e42',
      },
    ]);
  });

  it.each([
    ['UNKNOWN', serving(0), 'grpc_health_unknown'],
    ['NOT_SERVING', serving(2), 'grpc_health_not_serving'],
    ['SERVICE_UNKNOWN', serving(3), 'grpc_health_service_unknown'],
    ['another number', serving(9), 'no_grpc_response'],
    ['an error after SERVING', serving(1, '13'), 'grpc_internal'],
    ['no health service', only({ 'grpc-status': '12' }), 'grpc_unimplemented'],
    ['no such service', only({ 'grpc-status': '5' }), 'grpc_not_found'],
    ['no message', only({ 'grpc-status': '0' }), 'no_grpc_response'],
    ['no status', only({}), 'grpc_unknown'],
    ['an error of HTTP', only({ ':status': 404 }), 'status_404'],
    [
      'a page',
      (stream: ServerHttp2Stream) => {
        stream.respond({ ':status': 200, 'content-type': 'text/html' });
        stream.end('<p>');
      },
      'no_grpc_response',
    ],
    [
      'a body without end',
      (stream: ServerHttp2Stream) => {
        stream.respond(GRPC);
        stream.write('x'.repeat(10_000));
      },
      'no_grpc_response',
    ],
    [
      'a reset after the head',
      (stream: ServerHttp2Stream) => {
        stream.respond(GRPC);
        stream.write(Buffer.from([0]), () => stream.destroy());
      },
      'reset',
    ],
  ])('finds no health in %s', async (_what, answer, detail) => {
    const { result } = await checked(answer);
    expect(result).toEqual({ verdict: 'bad', detail });
  });
});
