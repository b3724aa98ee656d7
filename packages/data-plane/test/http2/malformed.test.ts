import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import {
  HEAD,
  PROTOCOL_ERROR,
  abuseOfHttp2,
  pseudo,
  resetCode,
  type Fields,
} from '../http2-abuse.ts';
import { FLAG, FRAME, fieldBlock } from '../http2-frames.ts';

const abuse = abuseOfHttp2();

/** `:status: 400` of the static table (RFC 7541 appendix A). */
const STATUS_400 = 0x80 | 12;

const without = (name: string): Fields => pseudo().filter((field) => field[0] !== name);

const replaced = (name: string, value: string): Fields =>
  pseudo().map((field) => (field[0] === name ? [name, value] : field));

const seenWithout = (...canaries: string[]) =>
  abuse.upstream.seen.filter(({ headers }) => !canaries.includes(String(headers['x-canary'])));

describe('a malformed HTTP/2 request', () => {
  it.each<[string, () => Fields]>([
    ['a Connection field', () => [...pseudo(), abuse.bearer(), ['connection', 'close']]],
    [
      'a Connection field that names another',
      () => [...pseudo(), abuse.bearer(), ['connection', 'authorization']],
    ],
    ['Keep-Alive', () => [...pseudo(), abuse.bearer(), ['keep-alive', 'timeout=5']]],
    ['Proxy-Connection', () => [...pseudo(), abuse.bearer(), ['proxy-connection', 'keep-alive']]],
    ['Transfer-Encoding', () => [...pseudo(), abuse.bearer(), ['transfer-encoding', 'chunked']]],
    ['Upgrade', () => [...pseudo(), abuse.bearer(), ['upgrade', 'websocket']]],
    ['TE other than trailers', () => [...pseudo(), abuse.bearer(), ['te', 'trailers, deflate']]],
    ['a name in upper case', () => [...pseudo(), abuse.bearer(), ['X-Upper', '1']]],
    ['an unknown pseudo-header', () => [...pseudo(), [':unknown', '1'], abuse.bearer()]],
    [':status in a request', () => [...pseudo(), [':status', '200'], abuse.bearer()]],
    [
      ':protocol without CONNECT',
      () => [...replaced(':method', 'GET'), [':protocol', 'websocket'], abuse.bearer()],
    ],
    [
      'a pseudo-header after a field',
      () => [...without(':path'), abuse.bearer(), [':path', '/v1/proxy/test']],
    ],
    [':path twice', () => [...pseudo(), [':path', '/v1/proxy/other'], abuse.bearer()]],
    [':method twice', () => [...pseudo(), [':method', 'POST'], abuse.bearer()]],
    ['no :method', () => [...without(':method'), abuse.bearer()]],
    ['no :scheme', () => [...without(':scheme'), abuse.bearer()]],
    ['no :path', () => [...without(':path'), abuse.bearer()]],
    ['an empty :path', () => [...replaced(':path', ''), abuse.bearer()]],
    ['a :path without a slash', () => [...replaced(':path', 'v1/proxy/test'), abuse.bearer()]],
    [
      'an absolute :path',
      () => [...replaced(':path', 'https://other.test/v1/proxy/test'), abuse.bearer()],
    ],
    [
      'a :path with a request within',
      () => [...replaced(':path', '/v1/proxy/test HTTP/1.1\r\nx: y'), abuse.bearer()],
    ],
    ['a :path with a space', () => [...replaced(':path', '/v1/proxy/test/a b'), abuse.bearer()]],
    [
      'a :path of another scheme with a space',
      () => [
        [':method', 'GET'],
        [':scheme', 'other'],
        [':authority', 'gateway.test'],
        [':path', 'a b'],
        abuse.bearer(),
      ],
    ],
    [
      'a :method with a line break',
      () => [...replaced(':method', 'GET / HTTP/1.1\r\n'), abuse.bearer()],
    ],
    [
      'Host twice without an authority',
      () => [...without(':authority'), abuse.bearer(), ['host', 'a'], ['host', 'b']],
    ],
    ['no authority and no Host', () => [...without(':authority'), abuse.bearer()]],
    [
      'an authority with user info',
      () => [...replaced(':authority', 'user@gateway.test'), abuse.bearer()],
    ],
    [
      'an authority with a path',
      () => [...replaced(':authority', 'gateway.test/x'), abuse.bearer()],
    ],
    [
      'Content-Length twice',
      () => [...pseudo(), abuse.bearer(), ['content-length', '0'], ['content-length', '0']],
    ],
    [
      'a Content-Length that is no number',
      () => [...pseudo(), abuse.bearer(), ['content-length', '+1']],
    ],
    [
      'a Content-Length of a body that is not there',
      () => [...pseudo(), abuse.bearer(), ['content-length', '4']],
    ],
  ])('is reset, and reaches no upstream: %s', async (_case, fields) => {
    abuse.connection.send(FRAME.headers, HEAD, 1, fieldBlock(fields()));
    const reset = await abuse.connection.frame(FRAME.rstStream, 1);
    expect(resetCode(reset.payload)).toBe(PROTOCOL_ERROR);
    await abuse.othersAreServed();
    expect(seenWithout('same', 'other')).toEqual([]);
  });

  it.each<[string, () => Fields]>([
    [
      'a Host that is not the authority',
      () => [...pseudo(), abuse.bearer(), ['host', 'other.test']],
    ],
    ['a traversal', () => [...replaced(':path', '/v1/proxy/test/../x'), abuse.bearer()]],
    [
      'two different Authorizations',
      () => [...pseudo(), abuse.bearer(), ['authorization', 'Bearer other']],
    ],
    ['CONNECT', () => [[':method', 'CONNECT'], [':authority', 'other.test:443'], abuse.bearer()]],
  ])('is refused with an error body, and reaches no upstream: %s', async (_case, fields) => {
    abuse.connection.send(FRAME.headers, HEAD, 1, fieldBlock(fields()));
    await abuse.connection.frame(FRAME.headers, 1);
    const data = await abuse.connection.frame(FRAME.data, 1);
    expect(data.payload.toString()).toMatch(
      /"code":"(invalid_request|not_found|method_not_allowed)"/,
    );
    await abuse.othersAreServed();
    expect(seenWithout('same', 'other')).toEqual([]);
  });

  it.each(['/v1/proxy/test/\xe9', '/v1/proxy/test?\xe9', '/\xff'])(
    'gets 400 if its target has bytes above ASCII, as over HTTP/1.1: %j',
    async (path) => {
      for (const [stream, method] of [
        [1, 'GET'],
        [3, 'HEAD'],
        [5, 'POST'],
      ] as const) {
        const fields = replaced(':path', path).map((field) =>
          field[0] === ':method' ? ([':method', method] as const) : field,
        );
        const flags = method === 'POST' ? FLAG.endHeaders : HEAD;
        abuse.connection.send(
          FRAME.headers,
          flags,
          stream,
          fieldBlock([...fields, abuse.bearer()]),
        );
        const answer = await abuse.connection.frame(FRAME.headers, stream);
        expect(answer.payload[0]).toBe(STATUS_400);
        if (method !== 'HEAD') {
          const data = await abuse.connection.frame(FRAME.data, stream);
          expect(data.payload.toString()).toContain('"code":"invalid_request"');
        }
      }
      expect(abuse.connection.closed).toBe(false);
      await abuse.othersAreServed();
      expect(seenWithout('same', 'other')).toEqual([]);
      expect(abuse.gateway.records.filter(({ status }) => status === 400)).toEqual([]);
      expect(await abuse.gateway.registry.metrics()).toMatch(
        /gateway_malformed_requests_total\{reason="malformed_head"\} 3\n/,
      );
    },
  );

  it.each(['a\r\nx-smuggled: 1', 'a\nb', 'a\rb', 'a\0b', 'a\x7fb'])(
    'never passes on a control character: %j',
    async (value) => {
      abuse.connection.send(FRAME.headers, HEAD, 1, abuse.request(['x-evil', value]));
      await eventually(() => {
        expect(abuse.connection.frames.some(({ stream }) => stream === 1)).toBe(true);
      });
      for (const { rawHeaders } of abuse.upstream.seen) {
        expect(rawHeaders.join('\n').toLowerCase()).not.toMatch(/x-evil|x-smuggled/);
      }
      await abuse.othersAreServed();
    },
  );

  it.each(['123456', '12'])(
    'never looks complete if its body has another length than announced: %s, 4 bytes announced',
    async (body) => {
      const fields = [
        ...replaced(':method', 'POST'),
        abuse.bearer(),
        ['content-length', '4'] as const,
      ];
      abuse.connection.send(FRAME.headers, FLAG.endHeaders, 1, fieldBlock(fields));
      abuse.connection.send(FRAME.data, FLAG.endStream, 1, Buffer.from(body));
      await eventually(() => {
        const reset = abuse.connection.frames.some(({ type }) => type === FRAME.rstStream);
        expect(reset || abuse.connection.closed).toBe(true);
      });
      await abuse.othersAreServed();
      expect(seenWithout('same', 'other')).toEqual([]);
    },
  );

  it.each(['x y', 'x:y', 'x\r\ny', ''])(
    'never passes on an invalid field name: %j',
    async (name) => {
      abuse.connection.send(FRAME.headers, HEAD, 1, abuse.request([name, 'evil']));
      await eventually(() => {
        expect(abuse.connection.frames.some(({ stream }) => stream === 1)).toBe(true);
      });
      for (const { rawHeaders } of abuse.upstream.seen) expect(rawHeaders).not.toContain('evil');
      await abuse.othersAreServed();
    },
  );

  it.each([0, 8])(
    'is not passed on as complete if it was reset within its body: code %i',
    async (code) => {
      const fields = [...replaced(':method', 'POST'), abuse.bearer()];
      abuse.connection.send(FRAME.headers, FLAG.endHeaders, 1, fieldBlock(fields));
      abuse.connection.send(FRAME.data, 0, 1, Buffer.from('{"amount":1'));
      // A stream that is reset in the same read makes no request.
      await eventually(async () => expect(await abuse.gateway.inFlight()).toBe(1));
      const codeBytes = Buffer.alloc(4);
      codeBytes.writeUInt32BE(code);
      abuse.connection.send(FRAME.rstStream, 0, 1, codeBytes);
      const record = await eventually(() => {
        const [found] = abuse.gateway.records;
        if (found === undefined) throw new Error('no record yet');
        return found;
      });
      expect(record.outcome).toBe('client_aborted');
      await abuse.othersAreServed();
      expect(seenWithout('same', 'other')).toEqual([]);
    },
  );

  it('does not pass on trailers', async () => {
    const fields = [...replaced(':method', 'POST'), abuse.bearer(), ['trailer', 'x-late'] as const];
    abuse.connection.send(FRAME.headers, FLAG.endHeaders, 1, fieldBlock(fields));
    abuse.connection.send(FRAME.data, 0, 1, Buffer.from('body'));
    abuse.connection.send(FRAME.headers, HEAD, 1, fieldBlock([['x-late', '1']]));
    await abuse.connection.frame(FRAME.headers, 1);
    expect(abuse.upstream.seen[0]).toMatchObject({ body: 'body' });
    expect(abuse.upstream.seen[0]?.rawHeaders.join(' ').toLowerCase()).not.toContain('x-late');
  });
});
