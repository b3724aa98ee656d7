import { PROBLEM_TYPE } from '@gateway/shared/errors/error-content';
import { ERROR_TABLE, type ErrorCode } from '@gateway/shared/errors/error-table';
import { IDEMPOTENT_REPLAYED } from '@gateway/shared/http/headers';
import type { Scope } from '@gateway/shared/tokens/scopes';
import type { Endpoint } from '../endpoint.ts';
import { exampleOf, EXAMPLE_REQUEST_ID, exampleRef } from './examples.ts';
import { ALWAYS, errorHeaders, headerRefs, WAIT } from './headers.ts';
import type { Json, Components } from './components.ts';

/** The component that describes every error. */
export const ERROR = 'Error';
/** The component that describes the form of an error for callers that ask for it. */
export const PROBLEM = 'Problem';

/** Error codes of all endpoints, besides those that an endpoint lists. */
const COMMON: readonly ErrorCode[] = [
  'invalid_request',
  'authentication_failed',
  'method_not_allowed',
  'rate_limit_exceeded',
  'internal_error',
  'gateway_not_ready',
];
/** Of an `Idempotency-Key`. */
const COMMON_OF_POST: readonly ErrorCode[] = ['idempotency_conflict', 'idempotency_in_progress'];
const COMMON_WITH_BODY: readonly ErrorCode[] = [
  'request_timeout',
  'payload_too_large',
  'unsupported_media_type',
];

/** The responses of an operation, by status. */
export function responses(endpoint: Endpoint, components: Components): Json {
  const codes = [
    ...COMMON,
    ...(endpoint.body === undefined ? [] : COMMON_WITH_BODY),
    ...(endpoint.method === 'POST' ? COMMON_OF_POST : []),
    ...endpoint.errors,
  ];
  return {
    ...successes(endpoint, components),
    ...errorResponses(codes, components, endpoint.deprecated),
  };
}

/** The responses of the operation that answers this document. */
export function documentResponses(components: Components): Json {
  const schema = { type: 'object', description: 'An OpenAPI 3.1 document.' };
  return {
    200: {
      description: 'The document.',
      headers: headerRefs(ALWAYS),
      content: { 'application/json': { schema, example: { openapi: '3.1.0' } } },
    },
    ...errorResponses(['invalid_request', 'method_not_allowed', 'internal_error'], components),
  };
}

function successes(endpoint: Endpoint, components: Components): Json {
  const { method, answers, data, seenWith, etag = false } = endpoint;
  const headers = [
    ...ALWAYS,
    ...(etag ? (['etag'] as const) : []),
    ...(endpoint.deprecated === undefined ? [] : (['deprecation'] as const)),
    ...(method === 'POST' ? [IDEMPOTENT_REPLAYED] : []),
    ...(method === 'GET' ? [] : WAIT),
  ];
  const done = { description: 'Done. The response has no body.', headers: headerRefs(headers) };
  if (answers === 'none' || data === undefined) return { 204: done };
  const content = { 'application/json': envelope(endpoint, components) };
  const plain = {
    description: answers === 'page' ? 'A page of the list.' : 'The resource.',
    headers: headerRefs(headers),
    content,
  };
  const created = {
    description: 'The new resource.',
    headers: headerRefs([...headers, 'location']),
    content,
  };
  const notModified = {
    description: 'The resource is still the one that `If-None-Match` names.',
    headers: headerRefs(headers),
  };
  return {
    ...(answers === 'created' ? {} : { 200: plain }),
    ...(answers === 'created' || answers === 'one or created' ? { 201: created } : {}),
    ...(seenWith === undefined ? {} : { 204: { ...done, description: unseen(seenWith) } }),
    ...(method === 'GET' && etag ? { 304: notModified } : {}),
  };
}

function unseen(scopes: readonly Scope[]): string {
  const names = scopes.map((scope) => `\`${scope}\``).join(' and ');
  return `Done, and the token lacks ${names}. The response has no body.`;
}

/** The media type of a success: the envelope around a resource, or a page, which is a component of its own. */
function envelope(endpoint: Endpoint, components: Components): Json {
  const { data, answers } = endpoint;
  const shape = data === undefined ? {} : components.jsonOf(data, 'output');
  const request_id = {
    type: 'string',
    description: 'The id of the request, as in the header `X-Request-Id`.',
    examples: [EXAMPLE_REQUEST_ID],
  };
  const schema =
    answers === 'page'
      ? components.add(`${nameOf(shape)}Page`, pageOf(shape, request_id))
      : {
          type: 'object',
          required: ['data', 'request_id'],
          properties: { data: shape, request_id },
        };
  return { schema, example: exampleOf(schema, components) };
}

function pageOf(item: Json, request_id: Json): Json {
  return {
    type: 'object',
    description: 'A page of a list.',
    required: ['data', 'next_cursor', 'request_id'],
    properties: {
      data: { type: 'array', items: item, description: 'The items of this page.' },
      next_cursor: {
        type: ['string', 'null'],
        description: 'Send it as `cursor` to read the next page. null: this is the last page.',
        examples: [null],
      },
      request_id,
    },
  };
}

function nameOf({ $ref }: Json): string {
  if (typeof $ref !== 'string') throw new Error('the schema of an item of a list needs an id');
  return $ref.slice($ref.lastIndexOf('/') + 1);
}

/** A response for each status of the codes. Operations with the same codes for a status share it. */
function errorResponses(
  codes: readonly ErrorCode[],
  components: Components,
  deprecated?: string,
): Json {
  const byStatus = Map.groupBy(new Set(codes), (code) => ERROR_TABLE[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, some]) => {
      // A 405 is the answer to another method, which is not deprecated.
      const isDeprecated = deprecated !== undefined && status !== 405;
      const name = `${isDeprecated ? 'deprecated_' : ''}${some.toSorted().join('_or_')}`;
      return [
        String(status),
        components.addResponse(name, errorResponse(some, status, isDeprecated)),
      ];
    }),
  );
}

function errorResponse(codes: readonly ErrorCode[], status: number, isDeprecated: boolean): Json {
  const deprecation = isDeprecated ? (['deprecation'] as const) : [];
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_TABLE[code].when}`).join('\n\n'),
    headers: headerRefs([...ALWAYS, ...errorHeaders(status), ...deprecation]),
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${ERROR}` },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: exampleRef(code) }])),
      },
      [PROBLEM_TYPE]: { schema: { $ref: `#/components/schemas/${PROBLEM}` } },
    },
  };
}
