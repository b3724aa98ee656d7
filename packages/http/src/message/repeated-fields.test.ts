import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { cacheByFields, FieldBlocks } from './repeated-fields.ts';
import { parseRequestHead, type RequestHead } from './request-head.ts';
import { ResponseSyntax } from './response-head.ts';

const common = fc.constantFrom(
  'Host: gateway.test',
  'Content-Length: 5',
  'Content-Length: 0',
  'Transfer-Encoding: chunked',
  'transfer-encoding: gzip, chunked',
  'Transfer-Encoding: gzip',
  'Connection: close',
  'Connection: keep-alive, X-A',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Upgrade: h2c',
  'Expect: 100-continue',
  'Keep-Alive: timeout=5',
  'Cookie: a=1; b=2',
  'Cookie: c=3',
  'X-A:\t  value \t',
  'X-A:',
  'Authorization: Bearer abc',
);
const rare = fc.constantFrom(
  'host: other.test',
  'content-length: 6',
  'Content-Length: 05',
  'Content-Length: x',
  'X-A : 1',
  ' folded',
  'no colon',
  'X-A: \x00',
  'X-A: 1\r',
  'X-A: 1\nX-B: 2',
  `X-Long: ${'v'.repeat(3000)}`,
);
const line = fc.oneof({ weight: 20, arbitrary: common }, { weight: 1, arbitrary: rare });
const lines = fc
  .array(line, { maxLength: 8 })
  .map((all) => all.map((one) => `${one}\r\n`).join(''));
const REQUEST_LINES = [
  'GET / HTTP/1.1\r\n',
  'POST /a?b HTTP/1.0\r\n',
  'HEAD /long/path HTTP/1.1\r\n',
  'GET / HTTP/2.0\r\n',
  'GET  / HTTP/1.1\r\n',
];
const STATUS_LINES = ['HTTP/1.1 200 OK\r\n', 'HTTP/1.0 404 \r\n', 'HTTP/1.1 204 No Content\r\n'];
const MAX_LINES = [100, 100, 100, 3, 1];

/** A separate string, like the ones that a connection reads. */
const received = (text: string) => Buffer.from(text, 'latin1').toString('latin1');

describe('a block of field lines that was read before', () => {
  it('gives the same requests as one that was not', () => {
    const blocks = new FieldBlocks(manualClock(0));
    fc.assert(
      fc.property(lines, (block) => {
        for (const maxLines of MAX_LINES) {
          for (const start of REQUEST_LINES) {
            const text = received(start + block);
            const fresh = parseRequestHead(text, maxLines);
            expect(parseRequestHead(text, maxLines, blocks)).toEqual(fresh);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it('gives the same responses as one that was not', () => {
    const blocks = new FieldBlocks(manualClock(0));
    fc.assert(
      fc.property(lines, fc.constantFrom('GET', 'HEAD'), (block, method) => {
        for (let turn = 0; turn < 3; turn += 1) {
          for (const start of STATUS_LINES) {
            const [fresh, kept] = [new ResponseSyntax(), new ResponseSyntax(blocks)].map((one) => {
              one.answers(method);
              return one.parse(received(start + block), 100);
            });
            expect(kept).toEqual(fresh);
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});

function setUp() {
  const clock = manualClock(0);
  const blocks = new FieldBlocks(clock);
  const fieldsOf = (block: string) => {
    const head = parseRequestHead(received(`GET / HTTP/1.1\r\n${block}`), 100, blocks);
    return (head as RequestHead).fields;
  };
  return { clock, fieldsOf };
}

describe('blocks of field lines', () => {
  it('are kept from the second time on, for ten seconds, in use or not', () => {
    const { clock, fieldsOf } = setUp();
    const first = fieldsOf('A: 1\r\n');
    const second = fieldsOf('A: 1\r\n');
    expect(second).not.toBe(first);
    expect(fieldsOf('A: 1\r\n')).toBe(second);
    clock.advance(9_000);
    expect(fieldsOf('A: 1\r\n')).toBe(second);
    clock.advance(1_000);
    const later = fieldsOf('A: 1\r\n');
    expect(later).not.toBe(second);
    expect(later).toEqual(second);
  });

  it('that do not repeat are not looked up any more, until they do', () => {
    const { fieldsOf } = setUp();
    for (let index = 0; index < 2000; index += 1) fieldsOf(`A: ${index}\r\n`);
    const second = [fieldsOf('B: 1\r\n'), fieldsOf('B: 1\r\n'), fieldsOf('B: 1\r\n')];
    expect(new Set(second).size).toBe(3);
    const later = Array.from({ length: 2000 }, () => fieldsOf('B: 1\r\n'));
    expect(new Set(later.slice(-1000)).size).toBe(1);
  });

  it('are not mixed up if they differ where their keys do not', () => {
    const { fieldsOf } = setUp();
    // None of the characters from which a key is made.
    const value = (digit: number) => `${'a'.repeat(101)}${digit}${'a'.repeat(100)}`;
    for (let turn = 0; turn < 20; turn += 1) {
      for (const digit of [1, 2, 3]) {
        expect(fieldsOf(`A: ${value(digit)}\r\n`)).toEqual(['A', value(digit)]);
      }
    }
  });
});

it('a block that was read before has too many lines where a new one has', () => {
  const blocks = new FieldBlocks(manualClock(0));
  const parse = (maxLines: number) =>
    parseRequestHead(received('GET / HTTP/1.1\r\nA: 1\r\nB: 2\r\n'), maxLines, blocks);
  for (let turn = 0; turn < 3; turn += 1) expect(parse(2)).toMatchObject({ url: '/' });
  expect(parse(1)).toBe('too_many_lines');
});

describe('what is computed from a list of fields', () => {
  it('is computed once for a list that messages share, and each time for another', () => {
    const { fieldsOf } = setUp();
    let computed = 0;
    const count = cacheByFields(() => ({ number: (computed += 1) }));
    const own = fieldsOf('A: 1\r\n');
    expect([count(own).number, count(own).number]).toEqual([1, 2]);
    const shared = fieldsOf('A: 1\r\n');
    expect([count(shared).number, count(fieldsOf('A: 1\r\n')).number]).toEqual([3, 3]);
  });
});
