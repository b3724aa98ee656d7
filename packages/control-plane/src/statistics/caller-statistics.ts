import { exampleId } from '@gateway/shared/definitions/fields';
import { z } from 'zod';
import { timeField } from '../fields/response-fields.ts';
import { periodFields } from './statistics.ts';

/** What callers are ordered by. */
export const CALLER_ORDERS = ['requests', 'errors', 'rate_limited', 'quota_used'] as const;

export type CallerOrder = (typeof CALLER_ORDERS)[number];

/** More would take Postgres longer than a page of the console waits. */
export const MAX_COUNTED_RECORDS = 20_000;

const quotaSchema = z.object({
  environment: z
    .string()
    .meta({ description: 'The environment of the route.', examples: ['production'] }),
  route: z.string().meta({ description: 'The route whose quota it is.', examples: ['charges'] }),
  limit: z.int().meta({ description: 'The limit of the window.', examples: [1000] }),
  remaining: z.int().meta({ description: 'What was left of it then.', examples: [40] }),
  used: z.number().meta({
    description: 'The used part of the window then, from 0 to 1. 1: the next request gets 429.',
    examples: [0.96],
  }),
  at: timeField('When it was so.'),
});

const callerSchema = z.object({
  token_id: z
    .string()
    .nullable()
    .meta({ description: 'The token. null: the caller has none.', examples: [exampleId('tok')] }),
  subject: z
    .string()
    .nullable()
    .meta({
      description: 'The subject of the JWT of a caller without a token. null: there is none.',
      examples: [null],
    }),
  requests: z.int().meta({ description: 'How many requests were counted.', examples: [1200] }),
  errors: z.int().meta({
    description: 'How many of them failed, as in the statistics of all requests.',
    examples: [3],
  }),
  rate_limited: z.int().meta({
    description: 'How many of them the gateway refused because a quota was used up.',
    examples: [0],
  }),
  p95_ms: z.number().meta({
    description: 'The duration that 95 % of them do not exceed, ms.',
    examples: [42.3],
  }),
  last_at: timeField('When the newest of them arrived.'),
  quota: quotaSchema.nullable().meta({
    description:
      'The quota that was used most at one of these requests. Other callers may share it. null: none was counted.',
  }),
});

/** The schema of the answer. */
export const callerStatisticsSchema = z
  .object({
    ...periodFields,
    counted_from: timeField(
      'From when on requests were counted: later than `from` if there are too many to count in a moment.',
    ),
    requests: z.int().meta({ description: 'How many requests were counted.', examples: [1200] }),
    callers: z
      .array(callerSchema)
      .meta({ description: 'The callers that have requests, in the order.' }),
  })
  .meta({
    id: 'CallerStatistics',
    description: 'Counts of requests by caller, and how far the callers used their quotas.',
  });
