import { z } from 'zod';

/** Said of fields that records of older data planes lack. */
export const SINCE = 'null also in the records of an older gateway.';

/** Where the time of a request went, ms. */
export const timingSchema = z.object({
  gateway_ms: z.number().meta({
    description: "The milliseconds of the gateway's own work.",
    examples: [1.9],
  }),
  receiving_ms: z
    .number()
    .nullable()
    .meta({
      description: `The milliseconds of waiting for bytes of the request body. ${SINCE}`,
      examples: [0],
    }),
  waiting_ms: z
    .number()
    .nullable()
    .meta({
      description: `The milliseconds of waiting within the gateway: the sum of \`waits\`. ${SINCE}`,
      examples: [17.2],
    }),
  upstream_ms: z.number().meta({
    description:
      'The milliseconds of waiting for the upstream, while nothing is awaited from the caller.',
    examples: [21.2],
  }),
  sending_ms: z
    .number()
    .nullable()
    .meta({
      description: `The milliseconds of waiting for the caller to take the response. ${SINCE}`,
      examples: [0.1],
    }),
  total_ms: z.number().meta({
    description:
      'The milliseconds from the arrival of the request to the end of the response: the sum of the others.',
    examples: [40.4],
  }),
});

/** What it waited for within the gateway, ms. */
export const waitsSchema = z.object({
  key_ms: z.number().meta({
    description: 'For the store of idempotency keys, or another request with the same key.',
    examples: [0],
  }),
  quota_ms: z.number().meta({
    description: 'For a part of the quota from NATS.',
    examples: [0],
  }),
  connection_ms: z.number().meta({
    description: 'For a connection to the upstream: a free one, or a new one until it is open.',
    examples: [0],
  }),
  retry_ms: z.number().meta({
    description: 'Before a retry: the back-off, or the Retry-After of the upstream.',
    examples: [17.2],
  }),
});
