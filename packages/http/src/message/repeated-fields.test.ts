import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { NOT_FIELD_TEXT } from './message-writer.ts';
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

/** The other values that a field may have, by its name: also some that are invalid or decide about the body. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  Host: ['gateway.test', 'other.test'],
  'content-length': ['0', '5', '12', '05', 'x', ''],
  'Transfer-Encoding': ['chunked', 'gzip', 'gzip, chunked'],
  Connection: ['close', 'keep-alive', 'X-A', 'Upgrade'],
  Upgrade: ['websocket', 'h2c'],
  'Keep-Alive': ['timeout=5', 'timeout=9'],
  Traceparent: [
    '00-a',
    '00-b',
    '00-c',
    '\t00-d \t',
    '',
    'a:b',
    '\x00',
    'a\rb',
    'a\nb: c',
    '\r\n e',
  ],
  'X-A': ['1', '2', ' 3', 'v'.repeat(3000)],
  'x-a': ['1', '4'],
  Cookie: ['a=1', 'b=2', '\xff'],
};
const NAMES = Object.keys(VALUES);
/** Messages with the same names, whose values differ more or less often. */
const alike = fc.array(fc.constantFrom(...NAMES), { maxLength: 7 }).chain((names) =>
  fc
    .array(fc.tuple(...names.map((name) => fc.constantFrom('', ...(VALUES[name] ?? [])))), {
      minLength: 3,
      maxLength: 12,
    })
    .map((messages) =>
      messages.map((values) => values.map((value, at) => `${names[at]}: ${value}\r\n`).join('')),
    ),
);

describe('blocks of field lines of which some values differ', () => {
  it('give the same requests as each alone', () => {
    let common = 0;
    fc.assert(
      fc.property(alike, fc.constantFrom(100, 100, 3), (messages, maxLines) => {
        const blocks = new FieldBlocks(manualClock(0));
        for (const block of messages) {
          const text = received(`POST / HTTP/1.1\r\n${block}`);
          const read = parseRequestHead(text, maxLines, blocks);
          if (typeof read !== 'string' && read.common !== undefined) common += 1;
          expect(withoutCommon(read)).toEqual(withoutCommon(parseRequestHead(text, maxLines)));
        }
      }),
      { numRuns: 1000 },
    );
    expect(common).toBeGreaterThan(500);
  });

  it('have all but those values in common', () => {
    const { headOf } = setUp();
    const [, , third, fourth] = [1, 2, 3, 4].map((id) => headOf(`A: 1\r\nId: ${id}\r\nB: 2\r\n`));
    expect(third?.fields).toEqual(['A', '1', 'Id', '3', 'B', '2']);
    expect(third?.common?.fields).toEqual(['A', '1', 'Id', '', 'B', '2']);
    expect(third?.common?.varying).toEqual([3]);
    expect(fourth?.common).toBe(third?.common);
  });

  it('do not vary in a value that many had, which has changed', () => {
    const { headOf } = setUp();
    for (const second of [1, 2, 3]) {
      const heads = Array.from({ length: 20 }, () => headOf(`Date: ${second}\r\nA: 1\r\n`));
      expect(heads.map((head) => head.common)).toEqual(Array(20).fill(undefined));
      expect(new Set(heads.slice(1).map((head) => head.fields)).size).toBe(1);
    }
  });

  it('do not vary in a field that occurs twice', () => {
    const { headOf } = setUp();
    for (const id of [1, 2, 3, 4]) {
      const head = headOf(`a: ${id}\r\nA: 0\r\n`);
      expect(head).toMatchObject({ fields: ['a', String(id), 'A', '0'], common: undefined });
    }
  });
});

it('values that vary are read of one template only, however many have the same lines before them', () => {
  const { headOf } = setUp();
  const ask = (name: number, value: string) => headOf(`X: ${value}\r\nA${name}: 1\r\nB: 1\r\n`);
  for (let name = 0; name < 32; name += 1) for (const value of ['1', '2', '3']) ask(name, value);
  const test = jest.spyOn(NOT_FIELD_TEXT, 'test');
  for (const name of [0, 16, 31]) expect(ask(name, '4').common?.varying).toEqual([1]);
  expect(test.mock.calls).toEqual([['4'], ['4'], ['4']]);
  test.mockRestore();
});

function withoutCommon(head: ReturnType<typeof parseRequestHead>) {
  return typeof head === 'string' ? head : { ...head, common: undefined };
}

function setUp() {
  const clock = manualClock(0);
  const blocks = new FieldBlocks(clock);
  const headOf = (block: string) =>
    parseRequestHead(received(`GET / HTTP/1.1\r\n${block}`), 100, blocks) as RequestHead;
  const fieldsOf = (block: string) => headOf(block).fields;
  return { clock, headOf, fieldsOf };
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

  it('that have nothing in common are not looked up any more, until they do', () => {
    const { fieldsOf } = setUp();
    for (let index = 0; index < 2000; index += 1) fieldsOf(`A${index}: 1\r\n`);
    const first = Array.from({ length: 3 }, () => fieldsOf('B: 1\r\n'));
    expect(new Set(first).size).toBe(3);
    const later = Array.from({ length: 2000 }, () => fieldsOf('B: 1\r\n'));
    expect(new Set(later.slice(-1000)).size).toBe(1);
  });

  it('are all kept if they are as many as the templates', () => {
    const { fieldsOf } = setUp();
    const turn = () => Array.from({ length: 16 }, (_none, index) => fieldsOf(`A${index}: 1\r\n`));
    turn();
    const [second, third] = [turn(), turn()];
    expect(third.every((fields, index) => fields === second[index])).toBe(true);
  });

  it('take the place of the oldest if there are more', () => {
    const { fieldsOf } = setUp();
    const ask = (name: number) => fieldsOf(`A${name}: 1\r\n`);
    for (let name = 0; name < 32; name += 1) ask(name);
    const kept = [ask(0), ask(1)];
    ask(32);
    expect(ask(1)).toBe(kept[1]);
    expect(ask(0)).not.toBe(kept[0]);
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

  it('is computed once for messages that differ only in fields that it does not read', () => {
    const { headOf } = setUp();
    let computed = 0;
    const compute = () => ({ number: (computed += 1) });
    const ofA = cacheByFields(compute, (name) => name === 'A');
    const ofId = cacheByFields(compute, (name) => name === 'Id');
    const heads = [1, 2, 3, 4, 5].map((id) => headOf(`A: 1\r\nId: ${id}\r\n`)).slice(2);
    const numbers = (cached: typeof ofA) =>
      heads.map(({ fields, common }) => cached(fields, undefined, common).number);
    expect(numbers(ofA)).toEqual([1, 1, 1]);
    expect(numbers(ofId)).toEqual([2, 3, 4]);
  });
});
