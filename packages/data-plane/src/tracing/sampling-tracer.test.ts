import { systemRandom } from '@gateway/shared/ids';
import { describe, expect, it } from '@jest/globals';
import { createSamplingTracer } from './sampling-tracer.ts';

const CALLERS = 'a'.repeat(32);
const PARENT = '00f067aa0ba902b7';
const field = (flags: string) => `00-${CALLERS}-${PARENT}-${flags}`;

describe('the tracer of a process that exports spans', () => {
  const never = createSamplingTracer(systemRandom, () => false);
  const always = createSamplingTracer(systemRandom, () => true);

  it('tells the upstream of an unsampled request that it is not sampled', () => {
    expect(never(undefined)).toMatchObject({
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/),
      sampled: undefined,
    });
    expect(never(field('03'), 'a=b')).toMatchObject({
      traceparent: expect.stringMatching(new RegExp(`^00-${CALLERS}-[0-9a-f]{16}-02$`)),
      tracestate: 'a=b',
      sampled: undefined,
    });
  });

  it('names in traceparent the span of the attempt, whose parent is that of the request', () => {
    const { traceparent, sampled } = always(field('02'));
    expect(sampled).toMatchObject({ traceId: CALLERS, parentSpanId: PARENT });
    expect(traceparent).toBe(`00-${CALLERS}-${sampled?.attemptSpanIds[0]}-03`);
    const retried = sampled?.nextTraceparent();
    expect(retried).toBe(`00-${CALLERS}-${sampled?.attemptSpanIds[1]}-03`);
    const ids = [sampled?.spanId, ...(sampled?.attemptSpanIds ?? [])];
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}$/);
  });

  it('begins a sampled trace without a parent', () => {
    const { traceId, traceparent, sampled } = always(undefined);
    expect(sampled?.parentSpanId).toBeUndefined();
    expect(traceparent).toBe(`00-${traceId}-${sampled?.attemptSpanIds[0]}-01`);
  });

  it('asks the sampler about the trace and what the caller decided', () => {
    const asked: unknown[] = [];
    const tracer = createSamplingTracer(systemRandom, (...question) => asked.push(question) === 0);
    const { traceId } = tracer(undefined);
    tracer(field('01'));
    tracer(field('00'));
    expect(asked).toEqual([
      [traceId, undefined],
      [CALLERS, true],
      [CALLERS, false],
    ]);
  });
});
