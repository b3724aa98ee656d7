import { z } from 'zod';
import { integerVariable } from '../config/environment.ts';

const SAMPLERS = [
  'always_off',
  'always_on',
  'traceidratio',
  'parentbased_always_off',
  'parentbased_always_on',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof SAMPLERS)[number];

const MAX_LIST_ENTRIES = 100;

const endpointVariable = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .transform((url) => url.replace(/\/$/, ''));

/** `key=value` pairs separated by commas, the values percent-encoded (W3C Baggage, as OpenTelemetry prescribes). */
const pairsVariable = z.string().transform((text, context) => {
  const pairs: Record<string, string> = {};
  const entries = text.split(',').filter((entry) => entry.trim() !== '');
  try {
    for (const entry of entries) {
      const at = entry.indexOf('=');
      const key = entry.slice(0, Math.max(at, 0)).trim();
      if (key === '') throw new Error('no key');
      pairs[key] = decodeURIComponent(entry.slice(at + 1).trim());
    }
    if (entries.length <= MAX_LIST_ENTRIES) return pairs;
  } catch {
    // Reported below.
  }
  const message = `must be at most ${MAX_LIST_ENTRIES} pairs key=value with commas between them, the values percent-encoded`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

const RATIO_RULE = 'must be a number from 0 to 1';

/**
 * The settings of OpenTelemetry, with the names, units and defaults of its specification, except that traces and
 * metrics are off by default.
 */
export const otlpVariables = {
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLERS, `must be one of ${SAMPLERS.join(', ')}`)
    .default('always_off'),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^\d*\.?\d+$/, RATIO_RULE)
    .transform(Number)
    .pipe(z.number().min(0, RATIO_RULE).max(1, RATIO_RULE))
    .default(1),
  OTEL_METRICS_EXPORTER: z.enum(['none', 'otlp'], 'must be none or otlp').default('none'),
  OTEL_METRIC_EXPORT_INTERVAL: integerVariable(100, 86_400_000).default(60_000),
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_RESOURCE_ATTRIBUTES: pairsVariable.default({}),
  OTEL_EXPORTER_OTLP_ENDPOINT: endpointVariable.default('http://localhost:4318'),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpointVariable.optional(),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpointVariable.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairsVariable.default({}),
  OTEL_EXPORTER_OTLP_TIMEOUT: integerVariable(1, 600_000).default(10_000),
  OTEL_EXPORTER_OTLP_COMPRESSION: z.enum(['none', 'gzip'], 'must be none or gzip').default('none'),
  OTEL_BSP_SCHEDULE_DELAY: integerVariable(1, 3_600_000).default(5_000),
  OTEL_BSP_MAX_QUEUE_SIZE: integerVariable(1, 1_000_000).default(2_048),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: integerVariable(1, 10_000).default(512),
};

const schema = z.object(otlpVariables);
export type OtlpSettings = Readonly<z.output<typeof schema>>;
