import type { z } from 'zod';
import type { UpstreamProtocol } from './service-protocol.ts';
import { choiceField, integerField, objectField, stringField } from './fields.ts';

export const pathField = stringField(
  /^\/[\x21\x22\x24-\x7e]{0,1023}$/,
  'must be a path of at most 1024 characters that begins with / and contains no space and no #',
);
const DEFAULT_CHECK_TIMEOUT_MS = 2000;

/** The timeout of health checks if none is given. */
export function defaultCheckTimeoutMs(intervalMs: number): number {
  return Math.min(DEFAULT_CHECK_TIMEOUT_MS, intervalMs);
}

export const healthCheckField = objectField({
  type: choiceField(['http', 'grpc'], { http: 'HTTP', grpc: 'gRPC' })
    .default('http')
    .meta({
      title: 'Type',
      description:
        'What is asked. `http`: a `GET` of the path. `grpc`: `grpc.health.v1.Health/Check`, which `protocol: http1` cannot carry; SERVING is healthy.',
      examples: ['grpc'],
    }),
  grpc_service: stringField(/^[\x21-\x7e]{0,256}$/, 'must be at most 256 visible ASCII characters')
    .default('')
    .meta({
      title: 'gRPC service',
      description:
        'The gRPC service whose health a check of the type `grpc` asks for. Empty: the server as a whole.',
      examples: ['payments.v1.Payments'],
    }),
  path: pathField
    .nullable()
    .default(null)
    .meta({
      title: 'Path',
      description: 'The path that is requested. null: that of `health_path`.',
      examples: ['/healthz'],
    }),
  interval_ms: integerField(500, 300_000)
    .default(5000)
    .meta({
      title: 'Interval',
      'x-unit': 'ms',
      description: 'The time from one check of an upstream to the next.',
      examples: [5000],
    }),
  timeout_ms: integerField(1, 300_000)
    .optional()
    .meta({
      title: 'Timeout',
      'x-unit': 'ms',
      description: `The time that a check may take, at most \`interval_ms\`. Default: ${DEFAULT_CHECK_TIMEOUT_MS / 1000} s, or \`interval_ms\` if that is less.`,
      examples: [DEFAULT_CHECK_TIMEOUT_MS],
    }),
  healthy_threshold: integerField(1, 20)
    .default(2)
    .meta({
      title: 'Healthy after',
      description: 'After this many successful checks in a row an upstream is healthy.',
      examples: [2],
    }),
  unhealthy_threshold: integerField(1, 20)
    .default(3)
    .meta({
      title: 'Unhealthy after',
      description:
        'After this many failed checks in a row an upstream is unhealthy. After the first of them the next ones follow within 0.5 s each.',
      examples: [3],
    }),
}).meta({
  title: 'Health check',
  description: 'How data planes check whether an upstream is healthy.',
});

export const newHealthCheckField = healthCheckField
  .transform((check) => {
    const timeout_ms = check.timeout_ms ?? defaultCheckTimeoutMs(check.interval_ms);
    return { ...check, timeout_ms };
  })
  .superRefine((check, context) => {
    const message = timeoutFault(check);
    if (message !== undefined) {
      context.addIssue({ code: 'custom', path: ['timeout_ms'], message });
    }
  });

export type HealthCheck = Readonly<z.output<typeof newHealthCheckField>>;

/**
 * What is wrong with `health_check.timeout_ms`, if anything: two checks of one upstream must not overlap.
 */
export function timeoutFault(
  check: Pick<HealthCheck, 'interval_ms' | 'timeout_ms'>,
): string | undefined {
  if (check.timeout_ms <= check.interval_ms) return undefined;
  return `must be at most interval_ms, which is ${check.interval_ms}`;
}

export const CHECK_TYPE_FAULT =
  'must be http, or protocol must be http2 or auto: HTTP/1.1 carries no gRPC';

/** Whether the check of a service needs another protocol: HTTP/1.1 carries no gRPC. */
export function isCheckContradiction(
  { type }: Pick<HealthCheck, 'type'>,
  protocol: UpstreamProtocol,
): boolean {
  return type === 'grpc' && protocol === 'http1';
}
