import type { OtlpSettings } from './otlp-variables.ts';

/**
 * Decides whether the spans of a request are exported.
 *
 * @param parentSampled the flag in the caller's `traceparent`; undefined if there is no such field
 */
export type Sampler = (traceId: string, parentSampled: boolean | undefined) => boolean;

/** The random part of a trace id (W3C Trace Context Level 2): the last 56 bits. */
const RANDOM_DIGITS = 14;
const TRACE_DIGITS = 32;

/** The sampler of these settings. undefined: nothing is ever sampled, and no part of tracing is needed. */
export function createSampler(
  settings: Pick<OtlpSettings, 'OTEL_TRACES_SAMPLER' | 'OTEL_TRACES_SAMPLER_ARG'>,
): Sampler | undefined {
  const ratio = settings.OTEL_TRACES_SAMPLER_ARG;
  switch (settings.OTEL_TRACES_SAMPLER) {
    case 'always_off':
      return undefined;
    case 'always_on':
      return () => true;
    case 'traceidratio':
      return ratioSampler(ratio);
    case 'parentbased_always_off':
      return parentBased(() => false);
    case 'parentbased_always_on':
      return parentBased(() => true);
    case 'parentbased_traceidratio':
      return parentBased(ratioSampler(ratio));
  }
}

function parentBased(root: Sampler): Sampler {
  return (traceId, parentSampled) => parentSampled ?? root(traceId, undefined);
}

/**
 * Samples this share of the traces, and the same ones in every process with this ratio: a trace is sampled if its random
 * part is at least the threshold (OpenTelemetry, TraceState: Probability Sampling). The digits are compared as text, so
 * that a decision allocates nothing and usually looks at one digit.
 */
function ratioSampler(ratio: number): Sampler {
  if (ratio === 0) return () => false;
  const scale = 16n ** BigInt(RANDOM_DIGITS);
  // A double has fewer bits than the threshold; a ratio below 2^-52 is taken for that.
  const kept = BigInt(Math.max(1, Math.round(ratio * 2 ** 52))) * (scale / 2n ** 52n);
  const threshold = (scale - kept).toString(16).padStart(RANDOM_DIGITS, '0');
  return (traceId) => {
    for (let at = 0; at < RANDOM_DIGITS; at += 1) {
      const digit = traceId.charCodeAt(TRACE_DIGITS - RANDOM_DIGITS + at);
      const limit = threshold.charCodeAt(at);
      if (digit !== limit) return digit > limit;
    }
    return true;
  };
}
