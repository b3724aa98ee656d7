import { z } from 'zod';

/* What the policies of the route say of the request. */

export const quotaSchema = z.object({
  limit: z.int().meta({ description: 'Requests in each window.', examples: [60_000] }),
  window_seconds: z.number().meta({ description: 'The length of a window.', examples: [60] }),
  per: z
    .enum(['route', 'token', 'ip'])
    .meta({ description: 'What has a quota of its own.', examples: ['route'] }),
  granted: z
    .int()
    .nullable()
    .meta({
      description:
        'Granted or leased to all data planes in the window. null: not known, because NATS is away.',
      examples: [1200],
    }),
  leased: z.int().meta({ description: 'Leased by this data plane and not used.', examples: [180] }),
  remaining: z.int().meta({
    description: 'What the response would show in `X-RateLimit-Remaining`.',
    examples: [58_979],
  }),
  reset_seconds: z.int().meta({ description: 'Seconds until the window ends.', examples: [17] }),
});

export const corsSchema = z.object({
  origin_allowed: z.boolean().meta({
    description: 'Whether pages of the origin may read responses and open WebSockets.',
    examples: [true],
  }),
  allowed_by: z
    .string()
    .nullable()
    .meta({
      description: 'The item of `cors.origins` that covers the origin. null: none does.',
      examples: ['https://*.example.com'],
    }),
  methods: z
    .array(z.string())
    .meta({ description: 'The methods that pages may use.', examples: [['GET', 'POST']] }),
  headers: z.array(z.string()).meta({
    description: 'The headers that pages may send, in lower case. `*`: every header.',
    examples: [['authorization', 'content-type']],
  }),
  expose: z.array(z.string()).meta({
    description: 'The headers of responses that pages may read. `*`: every header.',
    examples: [['x-request-id', 'retry-after']],
  }),
  credentials: z
    .boolean()
    .meta({ description: 'Whether pages may send cookies.', examples: [false] }),
  max_age_s: z
    .int()
    .meta({ description: 'Seconds for which a browser keeps a preflight.', examples: [600] }),
  reason: z.string().meta({
    description: 'Why.',
    examples: ['The item https://*.example.com of `cors.origins` covers the origin.'],
  }),
});

const KEY_STATES = [
  'no_key',
  'free',
  'repeatable',
  'in_flight',
  'stored',
  'conflict',
  'outcome_unknown',
  'response_unreadable',
  'unavailable',
  'passed_on',
] as const;

export const idempotencySchema = z.object({
  state: z.enum(KEY_STATES).meta({
    description:
      'The state of the key. `in_flight`: its first request has not ended. `repeatable`: the same request runs again, because the last one was answered with a status of `idempotency.repeatable_statuses`. `unavailable`: the store of keys cannot be reached. `passed_on`: the route leaves keys to the upstream.',
    examples: ['stored'],
  }),
  first_request_id: z
    .string()
    .nullable()
    .meta({
      description: 'The request that has claimed the key.',
      examples: ['req_01kb5zv4x8n3m6q9r2t7w0y1z4'],
    }),
});
