import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MessageReader } from './message-reader.ts';
import { ResponseSyntax, type ResponseHead } from './response-head.ts';

interface Read {
  readonly ok: boolean;
  readonly status: number | undefined;
  readonly fields: readonly string[];
  readonly body: string;
  readonly ended: boolean;
  readonly keepAlive: boolean | undefined;
}

/** Feeds the pieces one by one, then the end of the connection if asked. */
function read(
  pieces: readonly string[],
  {
    method = 'GET',
    close = false,
    upgrade,
  }: { method?: string; close?: boolean; upgrade?: string } = {},
): Read {
  let status: number | undefined;
  let fields: readonly string[] = [];
  let body = '';
  let ended = false;
  let keepAlive: boolean | undefined;
  const syntax = new ResponseSyntax();
  const reader = new MessageReader<ResponseHead>(
    syntax,
    {
      head(head) {
        ({ status, fields, keepAlive } = head);
      },
      body: (bytes) => void (body += bytes.toString('latin1')),
      end: () => void (ended = true),
    },
    { maxHeaderBytes: 64 * 1024, maxHeaderLines: 1000 },
  );
  syntax.answers(method, upgrade);
  reader.expect();
  const ok = pieces.every((piece) => reader.feed(Buffer.from(piece, 'latin1')) === piece.length);
  if (close && ok) reader.finish();
  return { ok, status, fields, body, ended, keepAlive };
}

/** Cuts a text into pieces at these places. */
function cut(text: string, places: readonly number[]): string[] {
  const at = [...new Set(places.map((place) => place % text.length))].sort((a, b) => a - b);
  return [0, ...at].map((from, index) => text.slice(from, at[index]));
}

const LENGTH = 'HTTP/1.1 201 Created\r\nContent-Length: 5\r\nX-A: 1\r\n\r\nhello';
const CHUNKED =
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x="y"\r\nhello\r\n6\r\n world\r\n0\r\nX-T: 1\r\n\r\n';
const INTERIM = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';

describe('a response', () => {
  it.each([
    ['with a length', LENGTH, 201, 'hello'],
    ['in chunks, with extensions and trailers', CHUNKED, 200, 'hello world'],
    ['after interim ones', INTERIM + LENGTH, 201, 'hello'],
    ['after as many as may be', 'HTTP/1.1 102 P\r\n\r\n'.repeat(100) + LENGTH, 201, 'hello'],
    ['without a reason phrase', 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', 200, ''],
    ['without a body by its status', 'HTTP/1.1 204 No Content\r\n\r\n', 204, ''],
    [
      'not modified, with the length of what it would be',
      'HTTP/1.1 304 x\r\nContent-Length: 9\r\n\r\n',
      304,
      '',
    ],
  ])('%s is read alike however it is cut', (_case, text, status, body) => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 12 }), (places) => {
        const result = read(cut(text, places));
        expect(result).toMatchObject({ ok: true, status, body, ended: true, keepAlive: true });
      }),
    );
    expect(read(Array.from(text))).toMatchObject({ ok: true, status, body, ended: true });
  });

  it('may come byte by byte at a cost that grows with its length, not with the square of it', () => {
    const headOf = (lines: number) =>
      `HTTP/1.1 204 None\r\n${`X-A: ${'a'.repeat(60)}\r\n`.repeat(lines)}\r\n`;
    const leastMs = (lines: number) => {
      const pieces = Array.from(headOf(lines));
      const tries = Array.from({ length: 3 }, () => {
        const { user, system } = process.cpuUsage();
        expect(read(pieces)).toMatchObject({ ok: true, ended: true });
        const after = process.cpuUsage();
        return (after.user + after.system - user - system) / 1000;
      });
      return Math.min(...tries);
    };
    leastMs(200);
    // Four times as long: sixteen times the work if each byte cost as much as all before it.
    const ratio = leastMs(800) / leastMs(200);
    expect(ratio).toBeLessThan(10);
  });

  it('to HEAD has no body, whatever its length says', () => {
    const text = 'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n';
    expect(read([text], { method: 'HEAD' })).toMatchObject({ ended: true, body: '' });
  });

  it('without a length ends with its connection, and that one is not used again', () => {
    const text = 'HTTP/1.1 200 OK\r\n\r\nsome';
    expect(read([text])).toMatchObject({ ok: true, ended: false, keepAlive: false });
    expect(read([text], { close: true })).toMatchObject({ ended: true, body: 'some' });
  });

  it('that is cut short does not end with its connection', () => {
    for (const text of [LENGTH.slice(0, -1), CHUNKED.slice(0, -2), 'HTTP/1.1 200 OK\r\nX']) {
      expect(read([text], { close: true }).ended).toBe(false);
    }
  });

  it('keeps its fields in their order and to the byte', () => {
    const text =
      'HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nset-cookie:\tb=\xe9 \r\nX:\r\nContent-Length: 0\r\n\r\n';
    expect(read([text]).fields).toEqual([
      ...['Set-Cookie', 'a', 'set-cookie', 'b=\xe9', 'X', ''],
      ...['Content-Length', '0'],
    ]);
  });

  it('tells its length once, and none where it can have no body', () => {
    const twice = 'Content-Length: 5\r\ncontent-length: 5\r\nX: 1\r\n\r\n';
    expect(read([`HTTP/1.1 200 OK\r\n${twice}hello`])).toMatchObject({
      ok: true,
      ended: true,
      body: 'hello',
      keepAlive: true,
      fields: ['Content-Length', '5', 'X', '1'],
    });
    expect(read([`HTTP/1.1 204 No\r\n${twice}`])).toMatchObject({
      ended: true,
      fields: ['X', '1'],
    });
    const head = { method: 'HEAD' };
    expect(read([`HTTP/1.1 200 OK\r\n${twice}`], head).fields).toContain('Content-Length');
  });

  it('says whether its connection may be used again', () => {
    const response = (version: string, field: string) =>
      read([`HTTP/${version} 200 OK\r\n${field}Content-Length: 0\r\n\r\n`]).keepAlive;
    expect(response('1.1', '')).toBe(true);
    expect(response('1.1', 'Connection: close\r\n')).toBe(false);
    expect(response('1.1', 'Connection: Keep-Alive, Close\r\n')).toBe(false);
    expect(response('1.1', 'Connection: keep-alive,\tclose\r\n')).toBe(false);
    expect(response('1.1', 'Connection: close\t, x\r\n')).toBe(false);
    expect(response('1.1', 'Connection: x\r\nConnection: close\r\n')).toBe(false);
    expect(response('1.0', 'Connection: keep-alive\r\n')).toBe(false);
  });
});

describe('what is refused', () => {
  const OK = 'HTTP/1.1 200 OK\r\n';
  it.each([
    ['another protocol', 'ICY 200 OK\r\n\r\n'],
    ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n'],
    ['two spaces before the status', 'HTTP/1.1  200 OK\r\n\r\n'],
    ['a switch of protocols', 'HTTP/1.1 101 x\r\nUpgrade: x\r\n\r\n'],
    ['a line ended by LF alone', 'HTTP/1.1 200 OK\nX: y\n\n'],
    ['a bare CR in a value', `${OK}X: a\rb\r\n\r\n`],
    ['a NUL in a value', `${OK}X: a\0b\r\n\r\n`],
    ['a folded line', `${OK}X: a\r\n b\r\n\r\n`],
    ['a space before the colon', `${OK}X : a\r\n\r\n`],
    ['an empty name', `${OK}: a\r\n\r\n`],
    ['a line without a colon', `${OK}X\r\n\r\n`],
    ['two different lengths', `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`],
    ['a list of lengths', `${OK}Content-Length: 1, 1\r\n\r\nx`],
    ['a negative length', `${OK}Content-Length: -1\r\n\r\n`],
    ['a signed length', `${OK}Content-Length: +1\r\n\r\nx`],
    ['a length in hex', `${OK}Content-Length: 0x1\r\n\r\nx`],
    ['a length beyond numbers', `${OK}Content-Length: 99999999999999999999\r\n\r\n`],
    ['an empty length', `${OK}Content-Length:\r\n\r\n`],
    [
      'a length beside chunks',
      `${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a coding that is not chunked', `${OK}Transfer-Encoding: gzip\r\n\r\n`],
    ['chunked under another coding', `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n`],
    ['chunked twice', `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n`],
    ['an obfuscated coding', `${OK}Transfer-Encoding: xchunked\r\n\r\n`],
    ['chunks on HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a chunk size that is no number', `${OK}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`],
    ['a negative chunk size', `${OK}Transfer-Encoding: chunked\r\n\r\n-1\r\n`],
    ['a chunk size beyond numbers', `${OK}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n`],
    [
      'a chunk size line ended by LF alone',
      `${OK}Transfer-Encoding: chunked\r\n\r\n1\nx\r\n0\r\n\r\n`,
    ],
    ['a chunk longer than its size', `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n`],
    ['a malformed trailer', `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\nbad trailer\r\n\r\n`],
    ['endless trailers', `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n${'X: y\r\n'.repeat(5000)}`],
    ['an endless chunk extension', `${OK}Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(5000)}`],
    ['an endless head', `${OK}${`X: ${'y'.repeat(1000)}\r\n`.repeat(70)}`],
    ['endless interim responses', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(101)],
    ['bytes after the end of a body', `${OK}Content-Length: 1\r\n\r\nxy`],
    ['a second response', `${OK}Content-Length: 0\r\n\r\n${OK}Content-Length: 0\r\n\r\n`],
    ['a body to a status that has none', 'HTTP/1.1 204 No Content\r\n\r\nbody'],
  ])('%s', (_case, text) => {
    expect(read([text]).ok).toBe(false);
    expect(read(Array.from(text)).ok).toBe(false);
  });

  it('is never taken for a complete response, nor throws, whatever bytes come', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        OK,
        '\r\n',
        'Content-Length: 3',
        'Transfer-Encoding: chunked',
        '0',
        '\n',
        ' ',
        ':',
      ),
      fc.string({ unit: 'binary-ascii', maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat()), (pieces, places) => {
        const text = pieces.join('');
        fc.pre(text.length > 0);
        const whole = read([text], { close: true });
        const inPieces = read(cut(text, places), { close: true });
        expect({ ...inPieces }).toEqual({ ...whole });
      }),
      { numRuns: 2000 },
    );
  });
});

describe('101 Switching Protocols', () => {
  const SWITCH = 'HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n';

  it('is followed by bytes of the new protocol until the connection closes, however they are cut', () => {
    const text = `${INTERIM}${SWITCH}\x81\x02hi`;
    fc.assert(
      fc.property(fc.array(fc.nat()), (places) => {
        const result = read(cut(text, places), { close: true, upgrade: 'websocket' });
        expect(result).toMatchObject({ ok: true, status: 101, body: '\x81\x02hi', ended: true });
        expect(result.keepAlive).toBe(false);
      }),
    );
  });

  it.each([
    ['was not asked for', SWITCH, undefined],
    ['switches to another protocol', SWITCH, 'h2c'],
    ['names no protocol', 'HTTP/1.1 101 x\r\nConnection: Upgrade\r\n\r\n', 'websocket'],
    ['names two', SWITCH.replace('Conn', 'Upgrade: websocket\r\nConn'), 'websocket'],
  ])('is refused if it %s', (_case, text, upgrade) => {
    expect(read([text], upgrade === undefined ? {} : { upgrade }).ok).toBe(false);
  });
});
