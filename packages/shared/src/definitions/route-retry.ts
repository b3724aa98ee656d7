import { z } from 'zod';
import { choiceField, integerField, listField, objectField } from './fields.ts';

const statusMessage = 'must be 429 or a status from 500 to 599';

const retryStatusField = z
  .int({ error: statusMessage })
  .refine((status) => status === 429 || (status >= 500 && status <= 599), { error: statusMessage });

/** After what a request is sent again, when, and which methods may be. How often: `retry_count`. */
export const retryField = objectField({
  on_statuses: listField(retryStatusField, { min: 0, max: 20 })
    .default([502, 503, 504])
    .meta({
      title: 'Repeat after these statuses',
      description:
        'The statuses of an upstream after which the request is sent again: 429, or 500 to 599.',
      examples: [[502, 503, 504]],
    }),
  per_attempt_timeout_ms: integerField(1, 300_000)
    .nullable()
    .default(null)
    .meta({
      title: 'Timeout of one attempt',
      'x-unit': 'ms',
      description: 'The time that one attempt may take. null: all that is left of `timeout_ms`.',
      examples: [2000],
    }),
  backoff_ms: integerField(0, 10_000)
    .default(25)
    .meta({
      title: 'Backoff before the first retry',
      'x-unit': 'ms',
      description:
        'The longest wait before the first retry. It doubles with each retry, to at most 10 s; the wait is random below it.',
      examples: [25],
    }),
  unsafe_methods: choiceField(['never', 'with_idempotency_key', 'always'], {
    never: 'Never',
    with_idempotency_key: 'Only with an Idempotency-Key',
    always: 'Always: the upstream may run them twice',
  })
    .default('never')
    .meta({
      title: 'Repeat POST and PATCH after sending',
      description:
        'Whether a POST or PATCH that may have reached the upstream is sent again: `never`, only with an idempotency key, or `always`, if running a request twice does no harm.',
      examples: ['never'],
    }),
}).meta({ title: 'Retries', description: 'When a request is sent again.' });
