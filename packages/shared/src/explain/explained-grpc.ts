import { z } from 'zod';

const statusNames = z.array(
  z.string().meta({ description: 'The name of a gRPC status.', examples: ['UNAVAILABLE'] }),
);

export const grpcSchema = z.object({
  retried: statusNames.meta({
    description:
      'The gRPC statuses after which the call is sent again, if the response has no message (trailers-only) and the retry budget and the deadline allow it.',
    examples: [['UNAVAILABLE']],
  }),
  against_upstream: statusNames.meta({
    description:
      'The gRPC statuses that count as failures of the upstream, with or without a message. Enough failures in a row eject it.',
    examples: [['UNAVAILABLE']],
  }),
  reason: z.string().meta({
    description: 'Why.',
    examples: [
      'If the response has no message, the call is retried after UNAVAILABLE, which counts as the status 503. After a message nothing is retried.',
    ],
  }),
});
