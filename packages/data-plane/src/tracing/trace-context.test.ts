import { randomFillSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createTracer } from './trace-context.ts';

const NEW_TRACE = /^00-([0-9a-f]{32})-[0-9a-f]{16}-01$/;

function countingTracer() {
  let next = 0;
  return createTracer((bytes) => bytes.forEach((_byte, index) => (bytes[index] = next++ & 0xff)));
}

test('a new trace id has 16 bytes of the random source, the span id the next 8', () => {
  const trace = countingTracer();
  const traceId = '000102030405060708090a0b0c0d0e0f';
  expect(trace(undefined, 'a=b')).toEqual({
    traceId,
    traceparent: `00-${traceId}-1011121314151617-01`,
    tracestate: undefined,
  });
});

test('random bytes are drawn in blocks, and each is used once', () => {
  let draws = 0;
  const trace = createTracer((bytes) => {
    draws += 1;
    randomFillSync(bytes);
  });
  const traces = Array.from({ length: 200 }, () => trace(undefined));
  for (const { traceId, traceparent } of traces) {
    expect(NEW_TRACE.exec(traceparent)?.[1]).toBe(traceId);
  }
  expect(new Set(traces.map(({ traceId }) => traceId)).size).toBe(200);
  expect(new Set(traces.map(({ traceparent }) => traceparent.slice(36))).size).toBe(200);
  expect(draws).toBe(2);
});

const CALLERS = 'a'.repeat(32);

test.each([
  ['00', '00', ''],
  ['00', '01', ''],
  ['00', '03', ''],
  ['01', '01', '-what a later version says'],
  ['fe', '02', ''],
])(
  'a trace of version %s continues with its flags %s, its state and a new span',
  (version, flags, more) => {
    const traceparent = `${version}-${CALLERS}-00f067aa0ba902b7-${flags}${more}`;
    expect(countingTracer()(traceparent, 'a=b,c=d')).toEqual({
      traceId: CALLERS,
      traceparent: `00-${CALLERS}-1011121314151617-${flags}`,
      tracestate: 'a=b,c=d',
    });
  },
);

test.each([
  ['ff', '03'],
  ['fc', '00'],
  ['0d', '01'],
])('only flags of version 00 are passed on: %s becomes %s', (flags, sent) => {
  const { traceparent } = countingTracer()(`00-${CALLERS}-00f067aa0ba902b7-${flags}`);
  expect(traceparent).toBe(`00-${CALLERS}-1011121314151617-${sent}`);
});

test.each([
  ['no trace', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
  ['no parent', `00-${CALLERS}-${'0'.repeat(16)}-01`],
  ['version ff', `ff-${CALLERS}-00f067aa0ba902b7-01`],
  ['version 00 with more behind it', `00-${CALLERS}-00f067aa0ba902b7-01-extra`],
  ['version 00 with a dash behind it', `00-${CALLERS}-00f067aa0ba902b7-01-`],
  ['upper case', `00-${CALLERS.toUpperCase()}-00f067aa0ba902b7-01`],
  ['blanks', ` 00-${CALLERS}-00f067aa0ba902b7-01`],
  ['no flags', `00-${CALLERS}-00f067aa0ba902b7`],
  ['a later version without a dash after the flags', `01-${CALLERS}-00f067aa0ba902b7-01extra`],
  ['nothing', ''],
])('%s starts a new trace without the state', (_what, traceparent) => {
  const trace = countingTracer()(traceparent, 'a=b');
  expect(trace.traceparent).toMatch(NEW_TRACE);
  expect(trace.traceId).toBe('000102030405060708090a0b0c0d0e0f');
  expect(trace.tracestate).toBeUndefined();
});
