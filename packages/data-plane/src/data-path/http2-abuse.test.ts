import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/testing/eventually';
import {
  FLAG,
  FRAME,
  fieldBlock,
  frame,
  frameConnection,
  type FrameConnection,
} from '../testing/http2-frames.ts';
import { http2Call } from '../testing/http2-call.ts';
import { startSecureDataPath, type SecureDataPath } from '../testing/secure-data-path.ts';
import { startUpstream, type TestUpstream } from '../testing/upstream.ts';

type Fields = readonly (readonly [string, string])[];

const HEAD = FLAG.endHeaders | FLAG.endStream;
const PROTOCOL_ERROR = 1;
const ENHANCE_YOUR_CALM = 11;
const MAX_RESETS = 20;

let upstream: TestUpstream;
let gateway: SecureDataPath;
let connection: FrameConnection;

beforeEach(async () => {
  upstream = await startUpstream();
  gateway = await startSecureDataPath(
    { upstreams: [upstream.url] },
    {
      environment: {
        HTTP2_MAX_RESETS_PER_MINUTE: String(MAX_RESETS),
        HTTP2_MAX_CONCURRENT_STREAMS: '10',
        MAX_HEADER_BYTES: '8192',
      },
    },
  );
  connection = await frameConnection(gateway.port, gateway.authority.certPem);
});

afterEach(async () => {
  connection.destroy();
  await gateway.stop();
  await upstream.close();
});

const pseudo = (): Fields => [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', 'gateway.test'],
  [':path', '/v1/proxy/test'],
];

const bearer = (): Fields[number] => ['authorization', `Bearer ${gateway.token}`];

const request = (...more: Fields) => fieldBlock([...pseudo(), bearer(), ...more]);

const without = (name: string): Fields => pseudo().filter((field) => field[0] !== name);

const replaced = (name: string, value: string): Fields =>
  pseudo().map((field) => (field[0] === name ? [name, value] : field));

const resetCode = (payload: Buffer) => payload.readUInt32BE(0);
const goAwayCode = (payload: Buffer) => payload.readUInt32BE(4);

/** Whether another caller, and another stream of the same connection where it stands, are served. */
async function othersAreServed(): Promise<void> {
  const session = gateway.connectHttp2();
  const authorization = `Bearer ${gateway.token}`;
  expect((await http2Call(session, { authorization, 'x-canary': 'other' })).body).toBe('ok');
  session.destroy();
  if (
    connection.closed ||
    connection.socket.destroyed ||
    connection.frames.some(({ type }) => type === FRAME.goAway)
  )
    return;
  connection.send(FRAME.headers, HEAD, 99, request(['x-canary', 'same']));
  await connection.frame(FRAME.headers, 99);
}

const seenWithout = (...canaries: string[]) =>
  upstream.seen.filter(({ headers }) => !canaries.includes(String(headers['x-canary'])));

describe('a malformed request of HTTP/2', () => {
  it.each<[string, () => Fields]>([
    ['a Connection field', () => [...pseudo(), bearer(), ['connection', 'close']]],
    [
      'a Connection field that names another',
      () => [...pseudo(), bearer(), ['connection', 'authorization']],
    ],
    ['Keep-Alive', () => [...pseudo(), bearer(), ['keep-alive', 'timeout=5']]],
    ['Proxy-Connection', () => [...pseudo(), bearer(), ['proxy-connection', 'keep-alive']]],
    ['Transfer-Encoding', () => [...pseudo(), bearer(), ['transfer-encoding', 'chunked']]],
    ['Upgrade', () => [...pseudo(), bearer(), ['upgrade', 'websocket']]],
    ['TE other than trailers', () => [...pseudo(), bearer(), ['te', 'trailers, deflate']]],
    ['a name in upper case', () => [...pseudo(), bearer(), ['X-Upper', '1']]],
    ['an unknown pseudo-header', () => [...pseudo(), [':unknown', '1'], bearer()]],
    [':status in a request', () => [...pseudo(), [':status', '200'], bearer()]],
    [
      ':protocol, as RFC 8441 is not offered',
      () => [...replaced(':method', 'CONNECT'), [':protocol', 'websocket'], bearer()],
    ],
    [
      'a pseudo-header after a field',
      () => [...without(':path'), bearer(), [':path', '/v1/proxy/test']],
    ],
    [':path twice', () => [...pseudo(), [':path', '/v1/proxy/other'], bearer()]],
    [':method twice', () => [...pseudo(), [':method', 'POST'], bearer()]],
    ['no :method', () => [...without(':method'), bearer()]],
    ['no :scheme', () => [...without(':scheme'), bearer()]],
    ['no :path', () => [...without(':path'), bearer()]],
    ['an empty :path', () => [...replaced(':path', ''), bearer()]],
    ['a :path without a slash', () => [...replaced(':path', 'v1/proxy/test'), bearer()]],
    [
      'an absolute :path',
      () => [...replaced(':path', 'https://other.test/v1/proxy/test'), bearer()],
    ],
    [
      'a :path with a request within',
      () => [...replaced(':path', '/v1/proxy/test HTTP/1.1\r\nx: y'), bearer()],
    ],
    ['a :path with a space', () => [...replaced(':path', '/v1/proxy/test/a b'), bearer()]],
    [
      'a :path of another scheme with a space',
      () => [
        [':method', 'GET'],
        [':scheme', 'other'],
        [':authority', 'gateway.test'],
        [':path', 'a b'],
        bearer(),
      ],
    ],
    ['a :method with a line break', () => [...replaced(':method', 'GET / HTTP/1.1\r\n'), bearer()]],
    [
      'Host twice without an authority',
      () => [...without(':authority'), bearer(), ['host', 'a'], ['host', 'b']],
    ],
    ['neither an authority nor a Host', () => [...without(':authority'), bearer()]],
    [
      'an authority with user info',
      () => [...replaced(':authority', 'user@gateway.test'), bearer()],
    ],
    ['an authority with a path', () => [...replaced(':authority', 'gateway.test/x'), bearer()]],
    [
      'Content-Length twice',
      () => [...pseudo(), bearer(), ['content-length', '0'], ['content-length', '0']],
    ],
    ['a Content-Length that is no number', () => [...pseudo(), bearer(), ['content-length', '+1']]],
    [
      'a Content-Length of a body that is not there',
      () => [...pseudo(), bearer(), ['content-length', '4']],
    ],
  ])('is reset, and reaches no upstream: %s', async (_case, fields) => {
    connection.send(FRAME.headers, HEAD, 1, fieldBlock(fields()));
    const reset = await connection.frame(FRAME.rstStream, 1);
    expect(resetCode(reset.payload)).toBe(PROTOCOL_ERROR);
    await othersAreServed();
    expect(seenWithout('same', 'other')).toEqual([]);
  });

  it.each<[string, () => Fields]>([
    ['a Host that is not the authority', () => [...pseudo(), bearer(), ['host', 'other.test']]],
    ['a traversal', () => [...replaced(':path', '/v1/proxy/test/../x'), bearer()]],
    ['Authorization twice', () => [...pseudo(), bearer(), bearer()]],
    ['CONNECT', () => [[':method', 'CONNECT'], [':authority', 'other.test:443'], bearer()]],
  ])('is refused in the envelope, and reaches no upstream: %s', async (_case, fields) => {
    connection.send(FRAME.headers, HEAD, 1, fieldBlock(fields()));
    await connection.frame(FRAME.headers, 1);
    const data = await connection.frame(FRAME.data, 1);
    expect(data.payload.toString()).toMatch(
      /"code":"(invalid_request|not_found|method_not_allowed)"/,
    );
    await othersAreServed();
    expect(seenWithout('same', 'other')).toEqual([]);
  });

  it.each(['a\r\nx-smuggled: 1', 'a\nb', 'a\rb', 'a\0b', 'a\x7fb'])(
    'never carries a control character on: %j',
    async (value) => {
      connection.send(FRAME.headers, HEAD, 1, request(['x-evil', value]));
      await eventually(() => {
        expect(connection.frames.some(({ stream }) => stream === 1)).toBe(true);
      });
      for (const { rawHeaders } of upstream.seen) {
        expect(rawHeaders.join('\n').toLowerCase()).not.toMatch(/x-evil|x-smuggled/);
      }
      await othersAreServed();
    },
  );

  it.each(['123456', '12'])(
    'never looks whole where its body is not as long as it said: %s of 4 bytes',
    async (body) => {
      const fields = [...replaced(':method', 'POST'), bearer(), ['content-length', '4'] as const];
      connection.send(FRAME.headers, FLAG.endHeaders, 1, fieldBlock(fields));
      connection.send(FRAME.data, FLAG.endStream, 1, Buffer.from(body));
      await eventually(() => {
        const reset = connection.frames.some(({ type }) => type === FRAME.rstStream);
        expect(reset || connection.closed).toBe(true);
      });
      await othersAreServed();
      expect(seenWithout('same', 'other')).toEqual([]);
    },
  );

  it.each(['x y', 'x:y', 'x\r\ny', ''])(
    'never carries a name on that is none: %j',
    async (name) => {
      connection.send(FRAME.headers, HEAD, 1, request([name, 'evil']));
      await eventually(() => {
        expect(connection.frames.some(({ stream }) => stream === 1)).toBe(true);
      });
      for (const { rawHeaders } of upstream.seen) expect(rawHeaders).not.toContain('evil');
      await othersAreServed();
    },
  );

  it.each([0, 8])(
    'does not pass a part of a body as the whole, reset with code %i',
    async (code) => {
      const fields = [...replaced(':method', 'POST'), bearer()];
      connection.send(FRAME.headers, FLAG.endHeaders, 1, fieldBlock(fields));
      connection.send(FRAME.data, 0, 1, Buffer.from('{"amount":1'));
      const codeBytes = Buffer.alloc(4);
      codeBytes.writeUInt32BE(code);
      connection.send(FRAME.rstStream, 0, 1, codeBytes);
      const record = await eventually(() => {
        const [found] = gateway.records;
        if (found === undefined) throw new Error('no record yet');
        return found;
      });
      expect(record.outcome).toBe('client_aborted');
      await othersAreServed();
      expect(seenWithout('same', 'other')).toEqual([]);
    },
  );

  it('sends on no trailers', async () => {
    const fields = [...replaced(':method', 'POST'), bearer(), ['trailer', 'x-late'] as const];
    connection.send(FRAME.headers, FLAG.endHeaders, 1, fieldBlock(fields));
    connection.send(FRAME.data, 0, 1, Buffer.from('body'));
    connection.send(FRAME.headers, HEAD, 1, fieldBlock([['x-late', '1']]));
    await connection.frame(FRAME.headers, 1);
    expect(upstream.seen[0]).toMatchObject({ body: 'body' });
    expect(upstream.seen[0]?.rawHeaders.join(' ').toLowerCase()).not.toContain('x-late');
  });
});

describe('a caller of HTTP/2 that floods', () => {
  it('with resets is sent away at the bound, with GOAWAY (CVE-2023-44487)', async () => {
    const cancel = Buffer.from([0, 0, 0, 8]);
    const frames: Buffer[] = [];
    for (let stream = 1; stream < 400; stream += 2) {
      frames.push(frame(FRAME.headers, HEAD, stream, request()));
      frames.push(frame(FRAME.rstStream, 0, stream, cancel));
    }
    connection.sendAll(frames);
    const goAway = await connection.frame(FRAME.goAway);
    expect(goAwayCode(goAway.payload)).toBe(ENHANCE_YOUR_CALM);
    await eventually(() => expect(connection.closed).toBe(true));
    await eventually(async () => expect(await gateway.inFlight()).toBe(0));
    expect(upstream.seen.length).toBeLessThanOrEqual(200);
    expect(await gateway.registry.metrics()).toMatch(
      /gateway_connections_ended_total\{reason="HTTP2_RESETS"\} 1/,
    );
    await othersAreServed();
  });

  it('with streams that it makes the gateway reset is sent away as well (CVE-2025-8671)', async () => {
    const frames: Buffer[] = [];
    const fields = fieldBlock([...replaced(':method', 'POST'), bearer(), ['content-length', '9']]);
    for (let stream = 1; stream < 400; stream += 2) {
      frames.push(frame(FRAME.headers, FLAG.endHeaders, stream, fields));
      frames.push(frame(FRAME.data, FLAG.endStream, stream, Buffer.from('short')));
    }
    connection.sendAll(frames);
    await eventually(() => expect(connection.closed).toBe(true));
    await eventually(async () => expect(await gateway.inFlight()).toBe(0));
    expect(upstream.seen).toEqual([]);
    expect(gateway.records.length).toBeLessThanOrEqual(100);

    await othersAreServed();
  });

  it('with more streams at a time than are allowed has the rest refused', async () => {
    const settings = await connection.frame(FRAME.settings);
    const values = new Map<number, number>();
    for (let at = 0; at < settings.payload.length; at += 6) {
      values.set(settings.payload.readUInt16BE(at), settings.payload.readUInt32BE(at + 2));
    }
    // RFC 9113 section 6.5.2: MAX_CONCURRENT_STREAMS, MAX_HEADER_LIST_SIZE; RFC 8441: 8.
    expect([values.get(3), values.get(6), values.get(8)]).toEqual([10, 8192, undefined]);
    const fields = fieldBlock([...replaced(':method', 'POST'), bearer()]);
    const frames: Buffer[] = [];
    for (let stream = 1; stream < 80; stream += 2) {
      frames.push(frame(FRAME.headers, FLAG.endHeaders, stream, fields));
    }
    connection.sendAll(frames);
    await eventually(() => {
      const gone = connection.frames.filter(
        ({ type }) => type === FRAME.rstStream || type === FRAME.goAway,
      );
      expect(gone.length).toBeGreaterThan(0);
    });
    expect(await gateway.inFlight()).toBeLessThanOrEqual(10);
    connection.destroy();
    await othersAreServed();
  });

  it('with CONTINUATION frames without an end is cut (CVE-2024-27316)', async () => {
    const frames = [frame(FRAME.headers, FLAG.endStream, 1, request())];
    const more = fieldBlock([['x-more', 'y'.repeat(1000)]]);
    for (let index = 0; index < 500; index += 1) frames.push(frame(FRAME.continuation, 0, 1, more));
    connection.sendAll(frames);
    await eventually(() => expect(connection.closed).toBe(true));
    expect(upstream.seen).toEqual([]);
    await othersAreServed();
  });

  it('with a header section that is too large is refused', async () => {
    connection.send(FRAME.headers, HEAD, 1, request(['x-large', 'y'.repeat(10_000)]));
    await connection.frame(FRAME.rstStream, 1);
    await othersAreServed();
    expect(seenWithout('same', 'other')).toEqual([]);
  });

  it.each([
    ['pings', () => frame(FRAME.ping, 0, 0, Buffer.alloc(8))],
    ['settings', () => frame(FRAME.settings, 0, 0, Buffer.from([0, 4, 0, 0, 255, 255]))],
  ])('with %s and reads nothing is cut', async (_case, make) => {
    connection.socket.pause();
    const flood = Buffer.concat(Array.from({ length: 20_000 }, make));
    for (let round = 0; round < 20 && !connection.closed; round += 1)
      connection.socket.write(flood);
    await eventually(() => {
      connection.socket.resume();
      expect(connection.closed).toBe(true);
    });
    await othersAreServed();
  });
});
