import { z } from 'zod';
import { DEFAULT_REPEATABLE_STATUSES, REPEATABLE_STATUSES } from '../http/repeatable-statuses.ts';
import { booleanField, choiceField, listField, objectField } from './fields.ts';

const repeatableMessage = `must be one of ${REPEATABLE_STATUSES.join(', ')}`;

const repeatableStatusField = z
  .int({ error: repeatableMessage })
  .refine((status) => REPEATABLE_STATUSES.includes(status), { error: repeatableMessage });

/** Who keeps idempotency keys, and what happens to a request that repeats one. */
export const idempotencyField = objectField({
  mode: choiceField(['store', 'off'], {
    store: 'The gateway: a request with a key runs once',
    off: 'The upstream: the gateway passes keys on',
  })
    .default('store')
    .meta({
      title: 'Who handles keys',
      description:
        'Who handles keys. `store`: the gateway runs a request with a key once and stores its response. `off`: the upstream alone; the gateway passes the key on and stores nothing.',
      examples: ['store'],
    }),
  required: booleanField()
    .default(false)
    .meta({
      title: 'Require an Idempotency-Key',
      description: 'Whether a request without `Idempotency-Key` is refused with 400.',
      examples: [false],
    }),
  on_unknown: choiceField(['refuse', 'forward'], {
    refuse: 'Refuse the next one with 409',
    forward: 'Forward the next one',
  })
    .default('refuse')
    .meta({
      title: 'If it is unknown whether the first request ran',
      description:
        'What happens if the outcome of the first request with a key is unknown: refuse the next one with 409, or forward it.',
      examples: ['refuse'],
    }),
  repeatable_statuses: listField(repeatableStatusField, {
    min: 0,
    max: REPEATABLE_STATUSES.length,
  })
    .default([...DEFAULT_REPEATABLE_STATUSES])
    .meta({
      title: 'Run the same request again after these statuses',
      description: `The statuses with which the upstream says that it has not carried out the request: of ${REPEATABLE_STATUSES.join(', ')}. After one of them the same request runs again, instead of getting the stored response.`,
      examples: [[425, 429, 503]],
    }),
}).meta({ title: 'Idempotency keys', description: 'How `Idempotency-Key` is handled.' });
