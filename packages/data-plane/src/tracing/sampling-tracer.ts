import { type RandomSource, piecesOf } from '@gateway/shared/ids';
import type { Sampler } from '@gateway/shared/opentelemetry/sampler';
import {
  parseTraceparent,
  SAMPLED,
  traceparentOf,
} from '@gateway/shared/opentelemetry/traceparent';
import { SampledTrace } from './sampled-trace.ts';
import { freshSpan, freshTraceId, newTraces, TRACE_CHARS, type Tracer } from './trace-context.ts';

/**
 * As `createTracer`, for a process that exports spans: the flag `sampled` says what the sampler decides. A request that
 * is not sampled costs that decision and nothing else.
 */
export function createSamplingTracer(random: RandomSource, sample: Sampler): Tracer {
  const freshTrace = piecesOf(newTraces(random, 0));
  const newSpan = () => freshSpan(freshTrace(TRACE_CHARS));
  return (traceparent, tracestate) => {
    const fresh = freshTrace(TRACE_CHARS);
    const caller = traceparent === undefined ? undefined : parseTraceparent(traceparent);
    if (caller === undefined) {
      const traceId = freshTraceId(fresh);
      return sample(traceId, undefined)
        ? sampled(new SampledTrace(traceId, undefined, SAMPLED, newSpan), undefined)
        : { traceId, traceparent: fresh, tracestate: undefined, sampled: undefined };
    }
    const { traceId, spanId, flags } = caller;
    if (sample(traceId, (flags & SAMPLED) !== 0)) {
      return sampled(new SampledTrace(traceId, spanId, flags | SAMPLED, newSpan), tracestate);
    }
    const field = traceparentOf(traceId, freshSpan(fresh), flags & ~SAMPLED);
    return { traceId, traceparent: field, tracestate, sampled: undefined };
  };
}

function sampled(trace: SampledTrace, tracestate: string | undefined) {
  const traceparent = trace.nextTraceparent();
  return { traceId: trace.traceId, traceparent, tracestate, sampled: trace };
}
