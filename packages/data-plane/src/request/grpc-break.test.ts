import { constants } from 'node:http2';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import { startGrpcDataPath } from '../../test/grpc-call.ts';
import { startStreamServer, streamWorld, type UpstreamProtocol } from '../../test/stream-world.ts';

const opened = closeAfterEach();

const GRPC = { 'content-type': 'application/grpc' };
const TE = { te: 'trailers' };
const IDLE_MS = 5000;
/** BODY_IDLE_TIMEOUT_MS, and the time between two checks of it. */
const UNREAD_MS = 62_000;
/** Whole messages. */
const ANSWER = '\0\0\0\0\x01a\0\0\0\0\0';

interface Call {
  readonly upstream?: UpstreamProtocol;
  readonly caller?: 'http1' | 'http2';
  readonly route?: object;
  readonly te?: Readonly<Record<string, string>>;
  readonly fields?: Readonly<Record<string, string>>;
  /** Those of the response. */
  readonly answered?: Readonly<Record<string, string>>;
}

/** A gRPC call whose response has begun, with whole messages. */
async function setUp({ upstream = 'http2', caller: protocol = 'http2', ...call }: Call = {}) {
  const server = opened(await startStreamServer(upstream));
  const route = { body_idle_timeout_ms: IDLE_MS, max_message_bytes: 10, ...call.route };
  const world = await streamWorld(opened, server, route);
  const caller = world.call(protocol, { ...GRPC, ...(call.te ?? TE), ...call.fields });
  caller.send('\0\0\0\0\x01a');
  const stream = await server.next();
  const answered = { 'content-type': 'application/grpc+proto', ...call.answered };
  for (const [name, value] of Object.entries(answered)) stream.response.setHeader(name, value);
  stream.response.write(ANSWER, 'latin1');
  await eventually(() => expect(caller.text).toBe(ANSWER));
  const record = () => world.gateway.recordOf(String(caller.headers['x-request-id']));
  return { ...world, caller, stream, record };
}

type World = Awaited<ReturnType<typeof setUp>>;

async function endOf({ caller }: World) {
  await eventually(() => expect(caller.end).not.toBe('open'));
  const { 'grpc-status': status, 'grpc-message': message } = caller.trailers ?? {};
  return { end: caller.end, text: caller.text, status, code: String(message).split(':')[0] };
}

const WAYS = {
  'is reset': ({ stream }: World) => {
    stream.reset();
  },
  'is silent after the whole request': async ({ caller, stream, pass }: World) => {
    caller.finish();
    await eventually(() => expect(stream.end).toBe('ended'));
    await pass(IDLE_MS + 1);
  },
  'is silent, as its caller is': ({ pass }: World) => pass(IDLE_MS + 1),
  'gets a message that is too large': ({ caller }: World) => {
    caller.send('\0\0\0\0\x0b');
  },
} satisfies Readonly<Record<string, (world: World) => unknown>>;

describe.each(['http1', 'http2'] as const)('a gRPC response of an upstream over %s', (upstream) => {
  it.each([
    ['is reset', '14', 'upstream_unavailable', 'upstream_error', null],
    ['is silent after the whole request', '4', 'upstream_timeout', 'upstream_error', null],
    ['is silent, as its caller is', '1', 'response_timeout', 'rejected', 'response_timeout'],
    ['gets a message that is too large', '8', 'payload_too_large', 'rejected', 'payload_too_large'],
  ] as const)(
    'that %s ends with the status %s, %s',
    async (way, status, code, outcome, errorCode) => {
      const world = await setUp({ upstream });
      await WAYS[way](world);
      expect(await endOf(world)).toEqual({ end: 'ended', text: ANSWER, status, code });
      expect(await world.record()).toMatchObject({
        status: 200,
        outcome,
        error_code: errorCode,
        grpc_status: Number(status),
      });
      await eventually(() => expect(world.stream.isGone).toBe(true));
    },
  );

  it('ends with DEADLINE_EXCEEDED when the time of its caller is over', async () => {
    const world = await setUp({ upstream, fields: { 'grpc-timeout': '4S' } });
    await world.pass(4001);
    const end = { end: 'ended', text: ANSWER, status: '4', code: 'upstream_timeout' };
    expect(await endOf(world)).toEqual(end);
    expect(await world.record()).toMatchObject({
      outcome: 'timeout',
      error_code: 'upstream_timeout',
      grpc_status: 4,
    });
    await eventually(() => expect(world.stream.isGone).toBe(true));
  });
});

describe('a gRPC response that breaks off', () => {
  it('with CANCEL ends with CANCELLED, and is recorded as any other that breaks off', async () => {
    const world = await setUp();
    world.stream.reset(constants.NGHTTP2_CANCEL);
    const end = { end: 'ended', text: ANSWER, status: '1', code: 'upstream_unavailable' };
    expect(await endOf(world)).toEqual(end);
    expect(await world.record()).toMatchObject({
      outcome: 'upstream_error',
      error_code: null,
      grpc_status: 1,
    });
  });

  it.each<[string, Call]>([
    ['whose caller is over HTTP/1.1, where the body would look whole', { caller: 'http1' }],
    ['whose caller takes no trailers', { te: {} }],
    ['of another content type', { answered: { 'content-type': 'text/plain' } }],
    ['of an announced length', { answered: { 'content-length': '30' } }],
    ['of gRPC-Web', { fields: { 'content-type': 'application/grpc-web' } }],
  ])('is cut %s', async (_which, call) => {
    const world = await setUp(call);
    world.stream.reset();
    expect(await endOf(world)).toMatchObject({ end: 'cut', status: undefined });
    expect(await world.record()).toMatchObject({ outcome: 'upstream_error', grpc_status: null });
  });

  it('with malformed bytes ends with UNAVAILABLE', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\n';
    const upstream = opened(
      await startRawUpstream((socket) => {
        socket
          .resume()
          .write(`${head}Transfer-Encoding: chunked\r\n\r\n5\r\n\0\0\0\0\0\r\nno length\r\n`);
      }),
    );
    const gateway = opened(await startGrpcDataPath({ upstreams: [upstream.url] }));
    const { status, trailers, code } = await gateway.grpc();
    expect({ status, code }).toEqual({ status: 200, code: 0 });
    expect(trailers).toMatchObject({ 'grpc-status': '14' });
    expect(trailers['grpc-message']).toMatch(/^upstream_unavailable: .*invalid HTTP/);
  });
});

describe.each(['http1', 'http2'] as const)(
  'a gRPC response over %s that breaks off',
  (upstream) => {
    it.each(['\0', '\0\0\0\0', '\0\0\0\0\x02', '\0\0\0\0\x02a'])(
      'within a message is cut: after %j',
      async (part) => {
        const world = await setUp({ upstream });
        const { caller, stream } = world;
        stream.response.write(part, 'latin1');
        await eventually(() => expect(caller.text).toBe(ANSWER + part));
        stream.reset();
        expect(await endOf(world)).toMatchObject({ end: 'cut', status: undefined });
        expect(await world.record()).toMatchObject({
          outcome: 'upstream_error',
          grpc_status: null,
        });
      },
    );
  },
);

describe('a caller that does not read its gRPC response', () => {
  /** Whole messages. */
  const LARGE = '\0\0\0\x03\xfb'.padEnd(1024, 'x').repeat(100);

  /** More has arrived than the window of the caller lets through. */
  async function unread() {
    const world = await setUp();
    const { caller, stream } = world;
    caller.stopReading();
    stream.response.write(LARGE, 'latin1');
    await eventually(() => expect(stream.response.writableLength).toBe(0));
    await world.pass(1);
    return world;
  }

  it('gets the status after what has arrived, once it reads', async () => {
    const world = await unread();
    world.stream.reset();
    await world.pass(1000);
    expect(world.caller.end).toBe('open');
    world.caller.readOn();
    expect(await endOf(world)).toMatchObject({ end: 'ended', status: '14' });
    expect(world.caller.text).toBe(ANSWER + LARGE);
    expect(await world.record()).toMatchObject({ outcome: 'upstream_error', grpc_status: 14 });
  });

  it('is reset after its time, if it does not read on', async () => {
    const world = await unread();
    world.stream.reset();
    await world.pass(UNREAD_MS);
    expect(world.gateway.records).toHaveLength(1);
    expect(world.gateway.records[0]).toMatchObject({ outcome: 'upstream_error' });
    world.caller.readOn();
    expect(await endOf(world)).toMatchObject({ end: 'cut', status: undefined });
  });

  it('is reset at its deadline', async () => {
    const server = opened(await startStreamServer('http2'));
    const { call, gateway, pass } = await streamWorld(opened, server);
    const caller = call('http2', { ...GRPC, ...TE, 'grpc-timeout': '10S' });
    caller.send('ask');
    const stream = await server.next();
    stream.response.setHeader('content-type', 'application/grpc');
    stream.response.write(ANSWER, 'latin1');
    await eventually(() => expect(caller.text).toBe(ANSWER));
    caller.stopReading();
    stream.response.write(LARGE.repeat(10), 'latin1');
    await eventually(() => expect(stream.response.writableLength).toBeGreaterThan(0));
    await pass(10_001);
    await eventually(() => expect(gateway.records).toHaveLength(1));
    expect(gateway.records[0]).toMatchObject({ outcome: 'timeout', grpc_status: null });
  });
});
