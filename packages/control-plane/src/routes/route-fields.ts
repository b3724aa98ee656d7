import { parseAddressRanges, type AddressRanges } from '@gateway/shared/net/upstream-addresses';
import { DEFAULT_METHODS, isForwardable, METHOD_TOKEN } from '@gateway/shared/http/methods';
import {
  DEFAULT_REPEATABLE_STATUSES,
  REPEATABLE_STATUSES,
} from '@gateway/shared/http/repeatable-statuses';
import { z } from 'zod';
import {
  choiceField,
  exampleId,
  idField,
  integerField,
  listField,
  objectField,
  regionField,
  routeNameField,
  stringField,
} from '../fields/fields.ts';
import { authField } from './route-auth.ts';
import { versionsField } from './route-versions.ts';

const MAX_REGIONS = 16;

/** More than are registered. */
const MAX_METHODS = 64;

const methodField = stringField(
  METHOD_TOKEN,
  "must be 1 to 32 characters of letters, digits and !#$%&'*+-.^_`|~",
).refine(isForwardable, { error: 'must not be CONNECT, TRACE, PRI or *' });

const rateLimitField = objectField({
  limit: integerField(1, 1_000_000_000)
    .default(60_000)
    .meta({
      description: 'The requests that are allowed in a window, on all data planes together.',
      examples: [1000],
    }),
  window_seconds: integerField(1, 86_400)
    .default(60)
    .meta({
      description: 'The length of a window. Windows are aligned to the clock.',
      examples: [60],
    }),
  per: choiceField(['route', 'token', 'ip'])
    .default('route')
    .meta({
      description: 'What has a quota of its own: the route, each token, or each client address.',
      examples: ['token'],
    }),
  on_store_unavailable: choiceField(['share', 'refuse'])
    .default('share')
    .meta({
      description:
        'What a data plane does while NATS is away, or stores no more callers of the route, and its lease is used up: grant what is kept back for it, or answer 503.',
      examples: ['share'],
    }),
}).meta({ description: 'The quota of the route. Requests beyond it are answered with 429.' });

const statusMessage = 'must be 429 or a status from 500 to 599';

const retryStatusField = z
  .int({ error: statusMessage })
  .refine((status) => status === 429 || (status >= 500 && status <= 599), { error: statusMessage });

const retryField = objectField({
  on_statuses: listField(retryStatusField, { min: 0, max: 20 })
    .default([502, 503, 504])
    .meta({
      description:
        'The statuses of an upstream after which the request is sent again: 429, or 500 to 599.',
      examples: [[502, 503, 504]],
    }),
  per_attempt_timeout_ms: integerField(1, 300_000)
    .nullable()
    .default(null)
    .meta({
      description:
        'The milliseconds that one attempt may take. null: all that is left of `timeout_ms`.',
      examples: [2000],
    }),
  backoff_ms: integerField(0, 10_000)
    .default(25)
    .meta({
      description: 'The longest wait before the first retry. It doubles with each retry.',
      examples: [25],
    }),
  unsafe_methods: choiceField(['never', 'with_idempotency_key', 'always'])
    .default('never')
    .meta({
      description:
        'Whether a POST or PATCH that may have reached the upstream is sent again: `never`, only with an idempotency key, or `always`.',
      examples: ['never'],
    }),
}).meta({ description: 'When a request is sent again.' });

const repeatableMessage = `must be one of ${REPEATABLE_STATUSES.join(', ')}`;

const repeatableStatusField = z
  .int({ error: repeatableMessage })
  .refine((status) => REPEATABLE_STATUSES.includes(status), { error: repeatableMessage });

const idempotencyField = objectField({
  mode: choiceField(['store', 'off'])
    .default('store')
    .meta({
      description:
        'Who handles keys. `store`: the gateway runs a request with a key once and stores its response. `off`: the upstream alone; the gateway passes the key on and stores nothing.',
      examples: ['store'],
    }),
  required: z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .meta({
      description: 'Whether a request without `Idempotency-Key` is refused with 400.',
      examples: [false],
    }),
  on_unknown: choiceField(['refuse', 'forward'])
    .default('refuse')
    .meta({
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
      description: `The statuses with which the upstream says that it has not carried out the request: of ${REPEATABLE_STATUSES.join(', ')}. After one of them the same request runs again, instead of getting the stored response.`,
      examples: [[425, 429, 503]],
    }),
}).meta({ description: 'How `Idempotency-Key` is handled.' });

const ratioMessage = 'must be a number from 0 to 1';

const accessLogField = objectField({
  enabled: z
    .boolean({ error: 'must be true or false' })
    .default(true)
    .meta({
      description: 'Whether requests have a line in the log of their data plane.',
      examples: [true],
    }),
  sample_ratio: z
    .number({ error: ratioMessage })
    .min(0, { error: ratioMessage })
    .max(1, { error: ratioMessage })
    .default(1)
    .meta({
      description:
        'The share of the requests that have a line. Those that failed because of the upstream always have one.',
      examples: [0.1],
    }),
}).meta({ description: 'Which requests are logged. Every request has a record.' });

/**
 * Every setting of a route with its type, bounds and default. Bodies, responses, the OpenAPI document and
 * the type of a row are derived from it.
 *
 * @param deny addresses that are refused in `jwks_url`
 */
export function routeFields(deny: AddressRanges) {
  return {
    name: routeNameField.meta({
      description:
        'The name of the route, unique in its environment. It is a part of the path `/v1/proxy/{name}`.',
      examples: ['charges'],
    }),
    service_id: idField.nullable().meta({
      description: 'The service that handles the requests. null: `versions` names services.',
      examples: [exampleId('svc')],
    }),
    versions: versionsField.nullable().meta({
      description:
        'The services that share the requests, with their weights. null: `service_id` names the only one.',
      examples: [
        null,
        [
          { name: 'stable', service_id: exampleId('svc'), weight: 90 },
          { name: 'canary', service_id: 'svc_01k2m8v4zj5r7c9e1g3p6t8w0y', weight: 10 },
        ],
      ],
    }),
    status: choiceField(['active', 'disabled'])
      .default('active')
      .meta({
        description: 'Requests to a `disabled` route are answered with 404.',
        examples: ['active'],
      }),
    timeout_ms: integerField(1, 300_000)
      .default(10_000)
      .meta({
        description: 'The milliseconds until the response must begin, retries included.',
        examples: [10_000],
      }),
    retry_count: integerField(0, 10)
      .default(2)
      .meta({
        description: 'The largest number of retries of a request.',
        examples: [2],
      }),
    methods: listField(methodField, { min: 1, max: MAX_METHODS })
      .nullable()
      .default(null)
      .meta({
        description:
          'The methods that the route accepts, in the case that callers send, such as `PROPFIND` or `QUERY`; not ' +
          `\`CONNECT\` or \`TRACE\`. null: ${DEFAULT_METHODS.join(', ')}.`,
        examples: [['GET', 'POST']],
      }),
    auth: authField(deny)
      .prefault({ type: 'token' })
      .meta({
        description: 'How callers authenticate.',
        examples: [{ type: 'token' }],
      }),
    rate_limit: rateLimitField.prefault({}),
    retry: retryField.prefault({}),
    idempotency: idempotencyField.prefault({}),
    regions: listField(regionField, { min: 0, max: MAX_REGIONS })
      .default([])
      .meta({
        description:
          'The regions to use, in this order, when a data plane has no healthy upstream in its own region.',
        examples: [['eu-west', 'us-east']],
      }),
    max_body_bytes: integerField(0, 1024 ** 3)
      .default(10 * 1024 * 1024)
      .meta({
        description: 'Requests with a larger body are refused with 413.',
        examples: [10 * 1024 * 1024],
      }),
    allow_encoded_control_characters: z
      .boolean({ error: 'must be true or false' })
      .default(false)
      .meta({
        description:
          'Whether a path may have the encoded control characters `%09`, `%0A` and `%0D`. Others are always refused.',
        examples: [false],
      }),
    access_log: accessLogField.prefault({}),
  };
}

/** The settings of a stored route, which has passed the check of addresses. */
export const storedRouteFields = routeFields(parseAddressRanges([]));
