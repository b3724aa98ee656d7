import { booleanField, objectField, ratioField } from './fields.ts';

/** Which requests of a route have a line in the log. */
export const accessLogField = objectField({
  enabled: booleanField()
    .default(true)
    .meta({
      title: 'Log requests',
      description: 'Whether requests have a line in the log of their data plane.',
      examples: [true],
    }),
  sample_ratio: ratioField()
    .default(1)
    .meta({
      title: 'Share of requests that are logged',
      description:
        'The share of the requests that have a line. Those that failed because of the upstream always have one.',
      examples: [0.1],
    }),
}).meta({ title: 'Log', description: 'Which requests are logged. Every request has a record.' });
