import { z } from 'zod';

export const mirrorSchema = z.object({
  service_id: z.string().meta({
    description: 'The service that gets copies.',
    examples: ['svc_01kb5zv4x8n3m6q9r2t7w0y1z4'],
  }),
  service: z
    .string()
    .nullable()
    .meta({
      description: 'The name of that service. null: the data plane cannot use it.',
      examples: ['orders-next'],
    }),
  percent: z.number().meta({
    description: 'The probability that a request like this is copied, in percent.',
    examples: [5],
  }),
  copied: z.boolean().meta({
    description: 'Whether requests like this are copied at all.',
    examples: [true],
  }),
  reason: z.string().meta({
    description: 'Why.',
    examples: ['5 % of the requests are copied.'],
  }),
});
