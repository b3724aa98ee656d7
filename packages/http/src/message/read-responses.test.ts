import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually } from '@gateway/shared/test/eventually';
import { readResponse, splitAt } from '../../test/read-response.ts';
import { ResponseSyntax } from './response-head.ts';

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
  ])('%s is read independently of the reads', (_case, text, status, body) => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 12 }), (positions) => {
        const result = readResponse(splitAt(text, positions));
        expect(result).toMatchObject({ ok: true, status, body, ended: true, keepAlive: true });
      }),
    );
    expect(readResponse(Array.from(text))).toMatchObject({ ok: true, status, body, ended: true });
  });

  it('may arrive byte by byte in linear time', () => {
    const headOf = (lines: number) =>
      `HTTP/1.1 204 None\r\n${`X-A: ${'a'.repeat(60)}\r\n`.repeat(lines)}\r\n`;
    const leastMs = (lines: number) => {
      const pieces = Array.from(headOf(lines));
      const tries = Array.from({ length: 3 }, () => {
        const { user, system } = process.cpuUsage();
        expect(readResponse(pieces)).toMatchObject({ ok: true, ended: true });
        const after = process.cpuUsage();
        return (after.user + after.system - user - system) / 1000;
      });
      return Math.min(...tries);
    };
    leastMs(200);
    // Four times the length would take sixteen times the time if it were quadratic.
    const ratio = leastMs(800) / leastMs(200);
    expect(ratio).toBeLessThan(10);
  });

  it('to HEAD has no body, whatever its length says', () => {
    const text = 'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n';
    expect(readResponse([text], { method: 'HEAD' })).toMatchObject({ ended: true, body: '' });
  });

  it('without a length ends with its connection, which is not used again', () => {
    const text = 'HTTP/1.1 200 OK\r\n\r\nsome';
    expect(readResponse([text])).toMatchObject({ ok: true, ended: false, keepAlive: false });
    expect(readResponse([text], { close: true })).toMatchObject({ ended: true, body: 'some' });
  });

  it('that is truncated does not end with its connection', () => {
    for (const text of [LENGTH.slice(0, -1), CHUNKED.slice(0, -2), 'HTTP/1.1 200 OK\r\nX']) {
      expect(readResponse([text], { close: true }).ended).toBe(false);
    }
  });

  it('keeps its fields unchanged and in order', () => {
    const text =
      'HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nset-cookie:\tb=\xe9 \r\nX:\r\nContent-Length: 0\r\n\r\n';
    expect(readResponse([text]).fields).toEqual([
      ...['Set-Cookie', 'a', 'set-cookie', 'b=\xe9', 'X', ''],
      ...['Content-Length', '0'],
    ]);
  });

  it('has its length once, and none if it can have no body', () => {
    const twice = 'Content-Length: 5\r\ncontent-length: 5\r\nX: 1\r\n\r\n';
    expect(readResponse([`HTTP/1.1 200 OK\r\n${twice}hello`])).toMatchObject({
      ok: true,
      ended: true,
      body: 'hello',
      keepAlive: true,
      fields: ['Content-Length', '5', 'X', '1'],
    });
    expect(readResponse([`HTTP/1.1 204 No\r\n${twice}`])).toMatchObject({
      ended: true,
      fields: ['X', '1'],
    });
    const head = { method: 'HEAD' };
    expect(readResponse([`HTTP/1.1 200 OK\r\n${twice}`], head).fields).toContain('Content-Length');
  });

  it('decides whether its connection may be used again', () => {
    const response = (version: string, field: string) =>
      readResponse([`HTTP/${version} 200 OK\r\n${field}Content-Length: 0\r\n\r\n`]).keepAlive;
    expect(response('1.1', '')).toBe(true);
    expect(response('1.1', 'Connection: close\r\n')).toBe(false);
    expect(response('1.1', 'Connection: Keep-Alive, Close\r\n')).toBe(false);
    expect(response('1.1', 'Connection: keep-alive,\tclose\r\n')).toBe(false);
    expect(response('1.1', 'Connection: close\t, x\r\n')).toBe(false);
    expect(response('1.1', 'Connection: x\r\nConnection: close\r\n')).toBe(false);
    expect(response('1.0', 'Connection: keep-alive\r\n')).toBe(false);
  });
});

describe('a malformed response', () => {
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
    expect(readResponse([text]).ok).toBe(false);
    expect(readResponse(Array.from(text)).ok).toBe(false);
  });

  it('is never read as complete and never throws, for any bytes', () => {
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
      fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat()), (pieces, positions) => {
        const text = pieces.join('');
        fc.pre(text.length > 0);
        const whole = readResponse([text], { close: true });
        const inPieces = readResponse(splitAt(text, positions), { close: true });
        expect({ ...inPieces }).toEqual({ ...whole });
      }),
      { numRuns: 2000 },
    );
  });
});

it('what receives hints is not kept after the response', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const syntax = new ResponseSyntax();
  const received: unknown[] = [];
  const read = () => {
    const receiver = { hints: (fields: unknown) => void received.push(fields) };
    syntax.answers('GET', undefined, receiver);
    syntax.parse('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n', 10);
    syntax.parse('HTTP/1.1 200 OK\r\n', 10);
    return new WeakRef(receiver);
  };
  const receiver = read();
  await eventually(() => {
    collectGarbage();
    expect(receiver.deref()).toBeUndefined();
  });
  expect(received).toEqual([['Link', '</a>']]);
  expect(syntax.parse('HTTP/1.1 200 OK\r\n', 10)).toMatchObject({ status: 200 });
});
