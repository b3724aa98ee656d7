import { connect } from 'node:http2';
import { describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection } from '@gateway/shared/test/raw-client';
import type { RawResponse } from '@gateway/shared/test/raw-response';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { affinityOf } from '../../test/affinity.ts';
import { environment, withCredential } from '../../test/credential-world.ts';
import { startTestDataPath, type TestDataPath } from '../../test/data-path.ts';
import { startMirrored } from '../../test/mirror-world.ts';
import { startTrailerUpstream } from '../../test/trailer-upstream.ts';

const opened = closeAfterEach();
const TE = ['TE: trailers', 'Connection: TE'];
const BODY = '5\r\nhello\r\n0\r\nX-Sum: 7\r\n\r\n';
const NO_REWRITE = {
  strip_prefix: null,
  add_prefix: null,
  path: null,
  query: { set: [], remove: [] },
  host: 'upstream',
  request_headers: { set: [], add: [], remove: [] },
  response_headers: { set: [], add: [], remove: [] },
} satisfies SnapshotRoute['rewrite'];

interface Sent {
  readonly lines?: readonly string[];
  /** In chunks, with trailers. */
  readonly body?: string;
  /** Instead of that of all routes. */
  readonly token?: string;
}

/** Sends a request over HTTP/1.1, with a body if there is one. */
async function send(
  { port, token: own }: Pick<TestDataPath, 'port' | 'token'>,
  { lines = [], body, token = own }: Sent = {},
): Promise<RawResponse> {
  const connection = opened(await rawConnection(port));
  const start = body === undefined ? 'GET' : 'PUT';
  const coding = body === undefined ? [] : ['Transfer-Encoding: chunked'];
  const all = ['Host: a.test', `Authorization: Bearer ${token}`, ...coding, ...lines];
  connection.send(`${start} /v1/proxy/test HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${body ?? ''}`);
  return connection.response();
}

async function world(route: Partial<SnapshotRoute> = {}, trailers?: Record<string, string>) {
  const upstream = opened(await startTrailerUpstream(trailers));
  const gateway = opened(await startTestDataPath({ upstreams: [upstream.url], ...route }));
  return { upstream, gateway };
}

describe('a retried request', () => {
  it('sends the trailers of a kept body with each attempt, and the caller gets those of the last response', async () => {
    const { upstream, gateway } = await world({ retry_count: 2 });
    upstream.statuses.push(503, 503);
    const response = await send(gateway, { body: BODY, lines: [...TE, 'Trailer: X-Sum'] });
    expect(response).toMatchObject({ status: 200, trailers: ['X-Sum: 7'] });
    expect(upstream.seen).toHaveLength(3);
    for (const { body, trailers, headers } of upstream.seen) {
      expect({ body, trailers }).toEqual({ body: 'hello', trailers: ['X-Sum', '7'] });
      expect(headers).toMatchObject({ trailer: 'X-Sum', te: 'trailers', connection: 'TE' });
    }
  });

  it('has its trailers also if the body arrives later, or is too large to be kept', async () => {
    for (const size of [10, 3_000_000]) {
      const { upstream, gateway } = await world({ retry_count: 1 });
      const connection = opened(await rawConnection(gateway.port));
      connection.send(
        `PUT /v1/proxy/test HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${gateway.token}\r\n` +
          `Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n`,
      );
      await new Promise(setImmediate);
      connection.send(`${'x'.repeat(size)}\r\n0\r\n`);
      await new Promise(setImmediate);
      connection.send('X-Sum: 7\r\n\r\n');
      expect(await connection.response()).toMatchObject({ status: 200 });
      expect(upstream.seen[0]?.body).toHaveLength(size);
      expect(upstream.seen[0]?.trailers).toEqual(['X-Sum', '7']);
    }
  });
});

describe('a request over HTTP/2', () => {
  it.each([
    ['without a length', {}, ['x-sum', '7']],
    // Over HTTP/1.1, which the upstream speaks, such a body has no trailers.
    ['with a length', { 'content-length': '5' }, []],
  ])('and a body %s goes on with its trailers, if it can', async (_what, length, trailers) => {
    const upstream = opened(await startTrailerUpstream());
    const environment = { HTTP2_CLEARTEXT: 'on' };
    const gateway = opened(
      await startTestDataPath({ upstreams: [upstream.url], retry_count: 0 }, { environment }),
    );
    const session = connect(gateway.url);
    opened({
      close() {
        session.destroy();
      },
    });
    const authorization = `Bearer ${gateway.token}`;
    const head = { ':method': 'PUT', ':path': '/v1/proxy/test', authorization, ...length };
    const stream = session.request(head, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '7', cookie: 'a=b' }));
    stream.end('hello');
    stream.resume();
    await eventually(() => expect(upstream.seen).toHaveLength(1));
    expect(upstream.seen[0]).toMatchObject({ body: 'hello', trailers });
  });
});

describe('an idempotency key', () => {
  it('keeps the trailers of the response for callers that take them, though the first one did not', async () => {
    const { upstream, gateway } = await world();
    const key = 'Idempotency-Key: k1';
    const first = await send(gateway, { body: BODY, lines: [key] });
    expect(first).toMatchObject({ status: 200, trailers: [] });
    const replay = await eventually(async () => {
      const response = await send(gateway, { body: BODY, lines: [key, ...TE] });
      expect(response.headers.get('idempotent-replayed')).toBe('true');
      return response;
    });
    expect(replay).toMatchObject({ status: 200, trailers: ['X-Sum: 7'] });
    expect(await replay.text()).toBe('ok');
    expect((await send(gateway, { body: BODY, lines: [key] })).trailers).toEqual([]);
    expect(upstream.seen).toHaveLength(1);
    expect(upstream.seen[0]?.trailers).toEqual(['X-Sum', '7']);
  });
});

describe('a field that the route removes, sets or withholds', () => {
  it('is no trailer of a response either, live or replayed', async () => {
    const rewrite: SnapshotRoute['rewrite'] = {
      ...NO_REWRITE,
      response_headers: {
        set: [{ name: 'X-Set', value: 'ours' }],
        add: [],
        remove: ['X_Internal'],
      },
    };
    const trailers = { 'X-Sum': '7', 'X-Internal': 'secret', 'x-set': 'theirs' };
    const { gateway } = await world({ rewrite }, trailers);
    const lines = [...TE, 'Idempotency-Key: k1'];
    for (let call = 0; call < 2; call += 1) {
      const response = await send(gateway, { body: BODY, lines });
      expect(response).toMatchObject({ status: 200, trailers: ['X-Sum: 7'] });
      expect(response.headers.get('x-set')).toBe('ours');
      if (call === 0) expect(response.headers.get('trailer')).toBe('X-Sum');
    }
  });

  it('is no trailer of a request either', async () => {
    const rewrite: SnapshotRoute['rewrite'] = {
      ...NO_REWRITE,
      request_headers: { set: [], add: [], remove: ['X-Sum'] },
    };
    const { upstream, gateway } = await world({ rewrite });
    const lines = ['Trailer: X-Sum, X-Other'];
    const body = '5\r\nhello\r\n0\r\nX_SUM: 7\r\nX-Other: 1\r\n\r\n';
    await send(gateway, { body, lines });
    expect(upstream.seen[0]).toMatchObject({ trailers: ['X-Other', '1'] });
    expect(upstream.seen[0]?.headers).toMatchObject({ trailer: 'X-Other' });
  });

  it('is no trailer if it is the header of sessions', async () => {
    const affinity = affinityOf({ by: 'upstream_header', header: 'X-Session' });
    const { upstream, gateway } = await world({ affinity }, { 'X-Session': 'a', 'X-Sum': '7' });
    const body = '5\r\nhello\r\n0\r\nX-Session: b\r\nX-Sum: 7\r\n\r\n';
    const response = await send(gateway, { body, lines: TE });
    expect(response.trailers).toEqual(['X-Sum: 7']);
    expect(upstream.seen[0]?.trailers).toEqual(['X-Sum', '7']);
  });
});

describe('a copy of a request', () => {
  it.each([
    ['a kept body', 'hello'],
    ['a body that streams', 'x'.repeat(300_000)],
  ])('has the body without the trailers: %s', async (_what, text) => {
    const [upstream, mirror] = [
      opened(await startTrailerUpstream()),
      opened(await startTrailerUpstream()),
    ];
    const gateway = opened(
      await startMirrored(upstream.url, [mirror.url], { route: { retry_count: 0 } }),
    );
    const body = `${text.length.toString(16)}\r\n${text}\r\n0\r\nX-Sum: 7\r\n\r\n`;
    const lines = [...TE, 'Trailer: X-Sum'];
    const response = await send(gateway, { body, lines, token: gateway.secret });
    expect(response).toMatchObject({ status: 200, trailers: ['X-Sum: 7'] });
    await eventually(() => expect(mirror.seen).toHaveLength(1));
    expect(upstream.seen[0]).toMatchObject({ trailers: ['X-Sum', '7'] });
    expect(mirror.seen[0]).toMatchObject({ trailers: [] });
    expect(mirror.seen[0]?.body === text).toBe(true);
    expect(mirror.seen[0]?.headers).toMatchObject({ te: 'trailers' });
    expect(mirror.seen[0]?.headers).not.toHaveProperty('trailer');
  });
});

describe('an upstream that answers before the request has ended', () => {
  it('gives the caller its trailers, and the rest of the request does no harm', async () => {
    const upstream = opened(
      await startRawUpstream((socket) => {
        socket.once('data', () => {
          socket.write(
            'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n',
          );
        });
      }),
    );
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url], retry_count: 0 }));
    const connection = opened(await rawConnection(gateway.port));
    const lines = ['Host: a', `Authorization: Bearer ${gateway.token}`, ...TE];
    const head = `PUT /v1/proxy/test HTTP/1.1\r\n${lines.join('\r\n')}\r\n`;
    connection.send(`${head}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n`);
    expect(await connection.response()).toMatchObject({ status: 200, trailers: ['X-Sum: 7'] });
    connection.send('0\r\nX-Late: 1\r\n\r\n');
    connection.send(`${head}Content-Length: 0\r\n\r\n`);
    expect(await connection.response()).toMatchObject({ status: 200, trailers: ['X-Sum: 7'] });
  });
});

describe('the credential of the service', () => {
  it('is no trailer of the caller, in any spelling', async () => {
    const upstream = opened(await startTrailerUpstream());
    const token = createTokenSecret();
    const snapshot = withCredential(testSnapshot({ upstreams: [upstream.url] }, token), {
      header: 'X-Upstream-Key',
      value: 'ours',
    });
    const options = { snapshots: [snapshot], environment };
    const gateway = opened(await startTestDataPath({ upstreams: [] }, options));
    const body = '5\r\nhello\r\n0\r\nx_upstream_key: theirs\r\nX-Sum: 7\r\n\r\n';
    await send(gateway, { body, token });
    expect(upstream.seen[0]?.headers).toMatchObject({ 'x-upstream-key': 'ours' });
    expect(upstream.seen[0]?.trailers).toEqual(['X-Sum', '7']);
  });
});
