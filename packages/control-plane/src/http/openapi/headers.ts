import { ERROR_CODES } from '@gateway/shared/errors/error-table';
import { HEADER, IDEMPOTENT_REPLAYED } from '@gateway/shared/http/headers';
import { MAX_WAIT_SECONDS } from '../../data-planes/prefer-wait.ts';
import { WAIT_REASONS } from '../../data-planes/wait-result.ts';
import { exampleId } from '@gateway/shared/definitions/fields';
import { etagOf } from '../etag.ts';
import { EXAMPLE_REQUEST_ID } from './examples.ts';
import type { Json } from './components.ts';

const EXAMPLE_ETAG = etagOf({ id: exampleId('svc'), revision: 3 });

/** All response headers of the API, by name. */
const RESPONSE_HEADERS = {
  [HEADER.requestId]: required('Identifies the request in logs and in support.', {
    type: 'string',
    examples: [EXAMPLE_REQUEST_ID],
  }),
  [HEADER.latency]: required('The whole milliseconds that the gateway spent.', count(3)),
  [HEADER.rateLimitLimit]: required(
    'The calls that the token may make in a window. If the authentication fails: the failures that the address may have.',
    count(6000),
  ),
  [HEADER.rateLimitRemaining]: required('The calls left in the window.', count(5999)),
  [HEADER.rateLimitReset]: required('The seconds until the window ends.', count(42)),
  etag: {
    description:
      'Names the resource and its revision, and the status of a service if the response shows it. A 412 has none if ' +
      'there is no resource.',
    schema: { type: 'string', examples: [EXAMPLE_ETAG] },
  },
  location: required('The path of the new resource.', {
    type: 'string',
    examples: ['/v1/services/svc_01k2m8v4zj5r7c9e1g3p6t8w0x'],
  }),
  allow: required('The methods that the path accepts.', {
    type: 'string',
    examples: ['GET, HEAD, POST'],
  }),
  'retry-after': required('The seconds to wait before the next call.', count(1)),
  'www-authenticate': required('The authentication that the API expects (RFC 6750).', {
    type: 'string',
    examples: ['Bearer'],
  }),
  [IDEMPOTENT_REPLAYED]: {
    description: '`true` if this is the stored response to an earlier call with the same key.',
    schema: { type: 'string', enum: ['true'], examples: ['true'] },
  },
  deprecation: required('Since when the operation is deprecated (RFC 9745).', {
    type: 'string',
    examples: ['@1795478400'],
  }),
  'preference-applied': {
    description: '`wait=N` if every live data plane serves the change.',
    schema: { type: 'string', examples: ['wait=5'] },
  },
  [HEADER.gatewayWait]: {
    description: 'Why the wait ended before every live data plane served the change.',
    schema: { type: 'string', enum: WAIT_REASONS, examples: [WAIT_REASONS[0]] },
  },
  vary: required('`Accept`: the caller chooses the form of the body.', {
    type: 'string',
    examples: ['Accept'],
  }),
  [HEADER.gatewayError]: required('The code of the error.', {
    type: 'string',
    enum: ERROR_CODES,
    examples: ['invalid_request'],
  }),
} as const satisfies Record<string, Json>;

type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** The headers of every response. */
export const ALWAYS: readonly ResponseHeader[] = [
  HEADER.requestId,
  HEADER.latency,
  HEADER.rateLimitLimit,
  HEADER.rateLimitRemaining,
  HEADER.rateLimitReset,
];

/** The headers that report the result of `Prefer: wait`. */
export const WAIT: readonly ResponseHeader[] = ['preference-applied', HEADER.gatewayWait];

/** The headers of an error with this status, besides those of every response. */
export function errorHeaders(status: number): ResponseHeader[] {
  const headers: ResponseHeader[] = [HEADER.gatewayError, 'vary'];
  if (status === 401) headers.push('www-authenticate');
  if (status === 405) headers.push('allow');
  if (status === 412) headers.push('etag');
  if (status === 429 || status === 503) headers.push('retry-after');
  return headers;
}

/** The `headers` of a response: references to the components. */
export function headerRefs(names: readonly ResponseHeader[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The components that `headerRefs` refers to. */
export const HEADER_COMPONENTS: Json = RESPONSE_HEADERS;

/** RFC 7240. All writes accept it. */
export const PREFER: Json = {
  name: 'Prefer',
  in: 'header',
  required: false,
  schema: { type: 'string', pattern: '^wait=[0-9]+$' },
  example: 'wait=5',
  description:
    '`wait=N`: the response comes when every live data plane serves the change, or after N seconds, ' +
    `at most ${MAX_WAIT_SECONDS}.`,
};

/** All POSTs accept it; see docs/adr/0031. */
export const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  example: '5b1c6f0e-1c5e-4b0f-9f4a-2a6a3b7a8f10',
  description:
    'A value of your choice, new for each call. A retry with the same key and the same body gets the response of the first call, which runs only once. Keys are kept for 24 hours for each token.',
};

/** RFC 9110 section 13.1.1. */
export const IF_MATCH: Json = {
  name: 'If-Match',
  in: 'header',
  required: false,
  schema: { type: 'string' },
  example: EXAMPLE_ETAG,
  description:
    'The ETag that you read. If the resource has changed since, or another one has taken its name, nothing is changed ' +
    'and the answer is 412.',
};

/** RFC 9110 section 13.1.2. */
export const IF_NONE_MATCH: Json = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  schema: { type: 'string' },
  example: EXAMPLE_ETAG,
  description: 'The ETag that you have. If it is still right, the answer is 304 without a body.',
};

/** RFC 9110 section 13.1.2, on a call that creates or replaces. */
export const IF_NONE_MATCH_OF_PUT: Json = {
  ...IF_NONE_MATCH,
  example: '*',
  description:
    '`*` only creates: if the resource exists, nothing is changed and the answer is 412.',
};

function required(description: string, schema: Json): Json {
  return { description, required: true, schema };
}

function count(example: number): Json {
  return { type: 'integer', minimum: 0, examples: [example] };
}
