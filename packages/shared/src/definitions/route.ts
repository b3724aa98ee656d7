import { DEFAULT_METHODS, isForwardable, METHOD_TOKEN } from '../http/methods.ts';
import { parseAddressRanges, type AddressRanges } from '../net/upstream-addresses.ts';
import {
  booleanField,
  choiceField,
  exampleId,
  idField,
  integerField,
  listField,
  regionField,
  routeNameField,
  stringField,
} from './fields.ts';
import { accessLogField } from './route-access-log.ts';
import { affinityField } from './route-affinity.ts';
import { authField } from './route-auth.ts';
import { corsField } from './route-cors.ts';
import { grpcErrorsField } from './route-grpc.ts';
import { idempotencyField } from './route-idempotency.ts';
import { locationsField, storedLocationsField } from './route-locations.ts';
import { matchField } from './route-match.ts';
import { rateLimitField } from './route-rate-limit.ts';
import { redirectField } from './route-redirect.ts';
import { respondField } from './route-respond.ts';
import { retryField } from './route-retry.ts';
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
