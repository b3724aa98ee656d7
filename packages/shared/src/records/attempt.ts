import { z } from 'zod';
import { MAX_GRPC_STATUS } from '../http/grpc-status.ts';

/** The number of a gRPC status. */
export const grpcStatusField = z.int().min(0).max(MAX_GRPC_STATUS);

/** One attempt to send the request to an upstream. */
export const attemptSchema = z.object({
  upstream: z
    .string()
    .meta({ description: 'The id of the upstream.', examples: ['ups_01k2m8v4zj5r7c9e1g3p6t8w0x'] }),
  region: z
    .string()
    .nullable()
    .meta({ description: 'Its region. null: none.', examples: ['eu-west'] }),
  started_ms: z.number().meta({
    description: 'The milliseconds from the arrival of the request to the start of the attempt.',
    examples: [1.2],
  }),
  duration_ms: z.number().meta({ description: 'The milliseconds that it took.', examples: [38.4] }),
  status: z
    .int()
    .optional()
    .meta({ description: 'The status of the response.', examples: [201] }),
  grpc_status: grpcStatusField.optional().meta({
    description:
      'The gRPC status, 0 to 16, with which the upstream ended a gRPC call. Absent: no gRPC call, or no status came.',
    examples: [14],
  }),
  error: z
    .string()
    .optional()
    .meta({
      description:
        'Why there was no usable status, such as `connect_refused`, `attempt_timeout` or `reset`. Some are faults of the ' +
        'gateway or of the caller, such as `max_connections` or `cancelled`; these do not count against the upstream.',
      examples: ['connect_refused'],
    }),
  retry: z
    .object({
      retried: z
        .boolean()
        .meta({ description: 'Whether another attempt followed.', examples: [true] }),
      why: z.string().meta({
        description:
          'Why: `nothing_sent`, `method_idempotent`, `idempotency_key` or `unsafe_methods_always` if it was retried; ' +
          '`status_not_retried`, `upstream_forbids`, `retry_count_used_up`, `method_not_idempotent`, `body_not_kept`, `budget_used_up`, ' +
          '`deadline`, `caller_left`, `response_ended`, `caller_failure`, `key_lease_ended` or `service_overloaded` if not. More values ' +
          'may be added.',
        examples: ['nothing_sent'],
      }),
    })
    .optional()
    .meta({
      description:
        'What followed. Absent after a status below 400 without a gRPC status above 0 in its place, and in records of gateways before it existed.',
    }),
});

export type RecordedAttempt = z.infer<typeof attemptSchema>;
