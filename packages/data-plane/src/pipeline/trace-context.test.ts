import { randomFillSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createTracer } from './trace-context.ts';

const NEW_TRACE = /^00-([0-9a-f]{32})-[0-9a-f]{16}-01$/;

function countingTracer() {
  let next = 0;
  return createTracer((bytes) => bytes.forEach((_byte, index) => (bytes[index] = next++ & 0xff)));
}

test('a new trace is made of 16 bytes of the source, our span of the next 8', () => {
  const trace = countingTracer();
  const traceId = '000102030405060708090a0b0c0d0e0f';
  expect(trace(undefined)).toEqual({
    traceId,
    traceparent: `00-${traceId}-1011121314151617-01`,
  });
});

test('randomness is drawn by the block, and each of it is used once', () => {
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

test("a caller's trace goes on with its flags and a span of ours", () => {
  const traceId = 'a'.repeat(32);
  expect(countingTracer()(`00-${traceId}-00f067aa0ba902b7-00`)).toEqual({
    traceId,
    traceparent: `00-${traceId}-1011121314151617-00`,
  });
});
