import { cpuMsOf } from '@gateway/shared/test/cpu-time';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { watchMemory } from '@gateway/shared/test/memory';
import { MessageReader, type MalformedReason } from './message-reader.ts';
import { createRequestSyntax } from './request-head.ts';

interface Seen {
  readonly start: string;
  readonly fields: readonly string[];
  body: string;
  complete: boolean;
}

/** Reads a text in reads of these sizes, repeated. */
function read(text: string, reads: readonly number[], maxHeaderBytes = 1000) {
  const seen: Seen[] = [];
  let refused: MalformedReason | undefined;
  const reader = new MessageReader(
    createRequestSyntax(),
    {
      head({ method, url, httpVersion, fields }, complete) {
        const start = `${method} ${url} ${httpVersion}`;
        seen.push({ start, fields, body: '', complete });
      },
      body(bytes, complete) {
        const last = seen.at(-1);
        // A string is the whole body.
        if (typeof bytes === 'string') expect(last).toMatchObject({ body: '', complete: false });
        expect(last?.complete).toBe(false);
        if (last === undefined) return;
        last.body += bytes.toString('latin1');
        last.complete = complete;
      },
    },
    { maxHeaderBytes, maxHeaderLines: 200 },
  );
  const bytes = Buffer.from(text, 'latin1');
  let turn = 0;
  for (let at = 0; at < bytes.length && refused === undefined; turn += 1) {
    const piece = bytes.subarray(at, at + (reads[turn % reads.length] ?? 1));
    for (let from = 0; from < piece.length && refused === undefined;) {
      if (reader.idle) reader.expect();
      const used = reader.feed(piece.subarray(from));
      if (typeof used === 'string') refused = used;
      else from += used;
    }
    at += piece.length;
  }
  return { seen, refused };
}

const reads = fc.array(fc.oneof(fc.integer({ min: 1, max: 90 }), fc.constant(10_000)), {
  minLength: 1,
  maxLength: 6,
});
const latin1 = fc
  .uint8Array({ maxLength: 300 })
  .map((bytes) => Buffer.from(bytes).toString('latin1'));
const message = fc.record({
  target: fc.stringMatching(/^\/[a-z?=&]{0,20}$/),
  fields: fc.array(
    fc.tuple(fc.stringMatching(/^x-[a-z]{1,9}$/), fc.stringMatching(/^[!-~]{1,20}$/)),
    { maxLength: 5 },
  ),
  body: latin1,
  chunked: fc.boolean(),
});

describe('requests of a connection', () => {
  it('are the same for any reads', () => {
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 4 }), reads, (messages, cuts) => {
        const text = messages.map(({ target, fields, body, chunked }) => {
          const lines = fields.map(([name, value]) => `${name}: \t${value} \r\n`).join('');
          const framing = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
          const size = `${body.length.toString(16)}\r\n`;
          const coded = chunked ? (body === '' ? '' : `${size}${body}\r\n`) + '0\r\n\r\n' : body;
          return `POST ${target} HTTP/1.1\r\n${lines}${framing}\r\n\r\n${coded}`;
        });
        const { seen, refused } = read(text.join(''), cuts);
        expect(refused).toBeUndefined();
        expect(seen.map(({ start, body, complete }) => ({ start, body, complete }))).toEqual(
          messages.map(({ target, body }) => ({
            start: `POST ${target} 1.1`,
            body,
            complete: true,
          })),
        );
        for (const [index, { fields }] of messages.entries()) {
          expect(seen[index]?.fields.slice(0, -2)).toEqual(fields.flat());
        }
      }),
    );
  });

  it('are accepted or refused independently of the reads', () => {
    const part = fc.constantFrom(
      ...['GET / HTTP/1.1', 'POST / HTTP/1.0', '\r\n', '\n', '\r', ' ', 'Host: a', 'X : 1', ':'],
      ...['Content-Length: 3', 'Transfer-Encoding: chunked', '3\r\nabc\r\n', '0\r\n\r\n', '\0'],
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 14 }), reads, (parts, cuts) => {
        const text = parts.join('');
        const whole = read(text, [text.length || 1]);
        const cut = read(text, cuts);
        expect(cut.refused).toBe(whole.refused);
        expect(cut.seen).toEqual(whole.seen);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['a head that does not end', 'GET / HTTP/1.1\r\nX: ', 'a', 'header_overflow'],
    ['header lines that do not end', 'GET / HTTP/1.1\r\n', 'X: \r\n', 'header_overflow'],
    [
      'short header lines',
      'GET / HTTP/1.1\r\n',
      `a:\r\n${'b:\r\n'.repeat(210)}\r\n`,
      'header_overflow',
    ],
    ['a target that does not end', 'GET /', 'a', 'target_overflow'],
    ['a method that does not end', 'G', 'A', 'header_overflow'],
    ['a version that does not end', 'GET / H', ' ', 'header_overflow'],
    ['empty lines that do not end', '', '\r\n', 'malformed_head'],
  ])('are limited: %s', (_case, begin, more, reason) => {
    for (const size of [1, 7, 5000]) {
      expect(read(begin + more.repeat(5000), [size]).refused).toBe(reason);
    }
  });

  it('may have a head of exactly the largest size', () => {
    const pad = (bytes: number) => {
      const empty = 'GET / HTTP/1.1\r\nX: \r\n\r\n';
      return empty.replace('X: ', `X: ${'a'.repeat(bytes - empty.length)}`);
    };
    for (const cuts of [[5000], [1]]) {
      expect(read(pad(1000), cuts)).toMatchObject({ refused: undefined, seen: [{}] });
      expect(read(pad(1001), cuts).refused).toBe('header_overflow');
    }
  });

  it.each([
    ['spaces within a value', `X: a${' '.repeat(60_000)}b`],
    ['spaces before a value', `X: ${' '.repeat(60_000)}\x01`],
    ['colons', `X${':'.repeat(60_000)}`],
  ])('take linear time: %s', (_case, line) => {
    const text = `GET / HTTP/1.1\r\n${line}\r\n\r\n`;
    // Quadratic time would be seconds.
    expect(cpuMsOf(() => read(text, [100_000], 100_000))).toBeLessThan(500);
  });
});

describe('a head that is incomplete', () => {
  it('needs about as much memory as it has bytes if they arrive one by one', () => {
    const bytes = Buffer.from(`GET / HTTP/1.1\r\nX: ${'a'.repeat(30_000)}`);
    const events = { head: () => undefined, body: () => undefined };
    const limits = { maxHeaderBytes: 32 * 1024, maxHeaderLines: 10 };
    const memory = watchMemory();
    const readers = Array.from({ length: 60 }, () => {
      const reader = new MessageReader(createRequestSyntax(), events, limits);
      reader.expect();
      for (let at = 0; at < bytes.length; at += 1) reader.feed(bytes.subarray(at, at + 1));
      return reader;
    });
    const { liveBytes } = memory.growth();
    expect(readers.every((reader) => reader.withinHead)).toBe(true);
    // A text that grows by one character takes 950 KB for each. Other suites of this process change the memory too.
    expect(liveBytes / readers.length).toBeLessThan(300_000);
  });
});
