import { DEFAULT_METHODS, isForwardable, METHOD_TOKEN } from '../http/methods.ts';
import { DEFAULT_REPEATABLE_STATUSES, REPEATABLE_STATUSES } from '../http/repeatable-statuses.ts';
import { parseAddressRanges, type AddressRanges } from '../net/upstream-addresses.ts';
import { z } from 'zod';
import {
  booleanField,
  choiceField,
  exampleId,
  idField,
  integerField,
  listField,
  objectField,
  ratioField,
  regionField,
  routeNameField,
  stringField,
} from './fields.ts';
import { affinityField } from './route-affinity.ts';
import { authField } from './route-auth.ts';
import { corsField } from './route-cors.ts';
import { grpcErrorsField } from './route-grpc.ts';
import { locationsField, storedLocationsField } from './route-locations.ts';
import { matchField } from './route-match.ts';
import { redirectField } from './route-redirect.ts';
import { respondField } from './route-respond.ts';
import { rewriteField } from './route-rewrite.ts';
import { streamingFields } from './route-streaming.ts';
import { mirrorField } from './route-mirror.ts';
import { bodyTimeFields } from './route-times.ts';
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
      title: 'Requests',
      description: 'The requests that are allowed in a window, on all data planes together.',
      examples: [1000],
    }),
  window_seconds: integerField(1, 86_400)
    .default(60)
    .meta({
      title: 'Window',
      'x-unit': 'seconds',
      description:
        'The length of a window. Windows are aligned to the clock of the NATS server: one of 60 s starts at each full minute.',
      examples: [60],
    }),
  per: choiceField(['route', 'token', 'ip'], {
    route: 'All callers together',
    token: 'Each caller',
    ip: 'Each client address',
  })
    .default('route')
    .meta({
      title: 'Counted for',
      description:
        'What has a quota of its own. `route`: the route, shared by all callers. `token`: each token, each JWT subject, or each address on a route without authentication. `ip`: each address (each /64 of IPv6).',
      examples: ['token'],
    }),
  on_store_unavailable: choiceField(['share', 'refuse'], {
    share: 'Each data plane grants its share',
    refuse: 'Grant what is leased, then answer 503',
  })
    .default('share')
    .meta({
      title: 'While NATS is away',
      description:
        'What a data plane does while NATS is away, or stores no more callers of the route, and its lease is used up. `share`: it grants its share. `refuse`: it answers 503 `quota_unavailable`.',
      examples: ['share'],
    }),
}).meta({
  title: 'Quota',
  description: 'The quota of the route. Requests beyond it are answered with 429.',
});

const statusMessage = 'must be 429 or a status from 500 to 599';

const retryStatusField = z
  .int({ error: statusMessage })
  .refine((status) => status === 429 || (status >= 500 && status <= 599), { error: statusMessage });

const retryField = objectField({
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

const repeatableMessage = `must be one of ${REPEATABLE_STATUSES.join(', ')}`;

const repeatableStatusField = z
  .int({ error: repeatableMessage })
  .refine((status) => REPEATABLE_STATUSES.includes(status), { error: repeatableMessage });

const idempotencyField = objectField({
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

const accessLogField = objectField({
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

/**
 * Every setting of a route with its type, bounds and default. Bodies, responses, columns, the OpenAPI document, exports,
 * the schema of the snapshot, the form of the console, the options of gwctl and the tables of docs/use/policies are
 * derived from it (docs/contribute/add-a-field.md).
 *
 * @param deny addresses that are refused in `jwks_url`
 */
export function routeFields(deny: AddressRanges) {
  return {
    name: routeNameField.meta({
      title: 'Name',
      description:
        'The name of the route, unique in its environment. It is a part of the path `/v1/proxy/{name}`.',
      examples: ['charges'],
    }),
    service_id: idField.nullable().meta({
      title: 'Service',
      description: 'The service that handles the requests. null: the route has another target.',
      examples: [exampleId('svc')],
    }),
    versions: versionsField.nullable().meta({
      title: 'Versions',
      description:
        'The services that share the requests, with their weights. null: the route has another target.',
      examples: [
        null,
        [
          { name: 'stable', service_id: exampleId('svc'), weight: 90 },
          { name: 'canary', service_id: 'svc_01k2m8v4zj5r7c9e1g3p6t8w0y', weight: 10 },
        ],
      ],
    }),
    respond: respondField
      .nullable()
      .default(null)
      .meta({
        title: 'Fixed answer',
        description:
          'The answer that the gateway gives itself, instead of a service. null: the route gives none.',
        examples: [null],
      }),
    redirect: redirectField
      .nullable()
      .default(null)
      .meta({
        title: 'Redirect',
        description:
          'The redirect with which the gateway answers, instead of a service. null: the route does not redirect.',
        examples: [null],
      }),
    match: matchField.meta({
      title: 'Hosts and paths',
      description:
        'The requests that reach the route by host, path and header fields, besides those to `/v1/proxy/{name}`. Each item is one way.',
      examples: [
        [{ hosts: ['api.example.com'], paths: [{ prefix: '/v2/payments' }], headers: [] }],
      ],
    }),
    rewrite: rewriteField
      .nullable()
      .default(null)
      .meta({
        title: 'Rewriting',
        description:
          'What is changed of requests before the upstream gets them, and of its responses. null: nothing.',
        examples: [null],
      }),
    status: choiceField(['active', 'disabled'], { active: 'Active', disabled: 'Disabled' })
      .default('active')
      .meta({
        title: 'Status',
        description: 'Requests to a `disabled` route are answered with 404.',
        examples: ['active'],
      }),
    timeout_ms: integerField(1, 300_000)
      .default(10_000)
      .meta({
        title: 'Deadline',
        'x-unit': 'ms',
        description:
          'The time until the response must begin, retries included, without the time in which the gateway waits for the body of the request.',
        examples: [10_000],
      }),
    ...bodyTimeFields,
    retry_count: integerField(0, 10)
      .default(2)
      .meta({
        title: 'Retries',
        description:
          'The largest number of retries of a request: it is sent at most `1 + retry_count` times.',
        examples: [2],
      }),
    methods: listField(methodField, { min: 1, max: MAX_METHODS })
      .nullable()
      .default(null)
      .meta({
        title: 'Accepted methods',
        description:
          'The methods that the route accepts, in the case that callers send, such as `PROPFIND` or `QUERY`; not ' +
          `\`CONNECT\` or \`TRACE\`. null: ${DEFAULT_METHODS.join(', ')}.`,
        examples: [['GET', 'POST']],
      }),
    auth: authField(deny)
      .prefault({ type: 'token' })
      .meta({
        title: 'Authentication',
        description: 'How callers authenticate.',
        examples: [{ type: 'token' }],
      }),
    rate_limit: rateLimitField.prefault({}),
    retry: retryField.prefault({}),
    idempotency: idempotencyField.prefault({}),
    regions: listField(regionField, { min: 0, max: MAX_REGIONS })
      .default([])
      .meta({
        title: 'Regions',
        description:
          'The regions to use, in this order, when a data plane has no healthy upstream in its own region.',
        examples: [['eu-west', 'us-east']],
      }),
    affinity: affinityField
      .nullable()
      .default(null)
      .meta({
        title: 'Sessions',
        description:
          'Which requests go to the same upstream of the service. null: each goes to any of them.',
        examples: [{ by: 'upstream_header', header: null, cookie: null, retry_elsewhere: false }],
      }),
    max_body_bytes: integerField(0, 1024 ** 3)
      .default(10 * 1024 * 1024)
      .meta({
        title: 'Body size limit',
        'x-unit': 'bytes',
        description: 'Requests with a larger body are refused with 413.',
        examples: [10 * 1024 * 1024],
      }),
    ...streamingFields,
    allow_encoded_control_characters: booleanField()
      .default(false)
      .meta({
        title: 'Allow %09, %0A and %0D in paths',
        description:
          'Whether a path may have the encoded control characters `%09`, `%0A` and `%0D`. Others are always refused.',
        examples: [false],
      }),
    early_hints: booleanField()
      .default(false)
      .meta({
        title: 'Pass on Early Hints (103)',
        description: 'Whether 103 Early Hints of the upstream are passed on to callers.',
        examples: [false],
      }),
    grpc_errors: grpcErrorsField,
    locations: locationsField,
    cors: corsField
      .nullable()
      .default(null)
      .meta({
        title: 'Browsers (CORS)',
        description:
          'Which pages of other origins may call the route and read its responses. null: what the upstream says.',
        examples: [
          null,
          {
            origins: ['https://app.example.com'],
            methods: null,
            headers: ['*'],
            expose: [],
            credentials: true,
            max_age_s: 600,
          },
        ],
      }),
    mirror: mirrorField,
    access_log: accessLogField.prefault({}),
  };
}

/** The settings of a stored route, which has passed the check of addresses. */
export const storedRouteFields = {
  ...routeFields(parseAddressRanges([])),
  locations: storedLocationsField,
};
