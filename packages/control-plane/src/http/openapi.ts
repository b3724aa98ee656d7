import { ERROR_CODES, ERROR_TABLE, type ErrorCode } from '@gateway/shared/errors/error-table';
import { HEADER } from '@gateway/shared/http/headers';
import { z } from 'zod';
import { MAX_WAIT_SECONDS } from '../fleet/prefer-wait.ts';
import { WAIT_REASONS } from '../fleet/rollout-waits.ts';
import type { Endpoint } from './endpoint.ts';

export const OPENAPI_PATH = '/v1/openapi.json';

type Json = Readonly<Record<string, unknown>>;

/** Error codes of all endpoints, besides those that an endpoint lists. */
const ALWAYS: readonly ErrorCode[] = [
  'authentication_failed',
  'rate_limit_exceeded',
  'internal_error',
  'gateway_not_ready',
];

/**
 * The OpenAPI 3.1 document of the management API. It is derived from the schemas that the endpoints validate with and
 * from the error table, so it cannot differ from what the service does.
 */
export function openApiDocument(endpoints: readonly Endpoint[]): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const endpoint of endpoints) {
    const operations = (paths[endpoint.path] ??= {});
    operations[endpoint.method.toLowerCase()] = operation(endpoint);
  }
  paths[OPENAPI_PATH] = {
    get: {
      summary: 'This document. Needs no token.',
      security: [],
      responses: { 200: { description: 'The OpenAPI document.', headers: headerRefs() } },
    },
  };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gateway management API',
      version: 'v1',
      description:
        'Configures the gateway and shows request records. Traffic goes to /v1/proxy/{route}.',
    },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      headers: responseHeaders(),
      schemas: { Error: errorSchema() },
    },
  };
}

function operation(endpoint: Endpoint): Json {
  const { scope, body, summary } = endpoint;
  const needs = scope === null ? 'Any token.' : `Needs the scope \`${scope}\`.`;
  return {
    summary,
    description: needs,
    parameters: [
      ...pathParameters(endpoint.path),
      ...queryParameters(endpoint.query),
      ...(endpoint.method === 'GET' ? [] : [PREFER]),
    ],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: json(schemaOf(body, 'input')) } }),
    responses: { ...success(endpoint), ...errorResponses(endpoint) },
  };
}

function success(endpoint: Endpoint): Json {
  const { data, method, answers } = endpoint;
  const headers = { ...headerRefs(), ...(method === 'GET' ? {} : WAIT_HEADERS) };
  if (answers === 'none' || data === undefined) return { 204: { description: 'Done.', headers } };
  const shape = schemaOf(data, 'output');
  const list = answers === 'page';
  const schema = {
    type: 'object',
    required: list ? ['data', 'next_cursor', 'request_id'] : ['data', 'request_id'],
    properties: {
      data: list ? { type: 'array', items: shape } : shape,
      ...(list ? { next_cursor: { type: ['string', 'null'] } } : {}),
      request_id: { type: 'string' },
    },
  };
  const status = answers === 'created' ? 201 : 200;
  return { [status]: { description: `${method} succeeded.`, headers, content: json(schema) } };
}

function errorResponses(endpoint: Endpoint): Json {
  const takesInput = endpoint.body !== undefined;
  const codes = new Set<ErrorCode>([...ALWAYS, 'invalid_request', ...endpoint.errors]);
  if (takesInput)
    codes.add('request_timeout').add('payload_too_large').add('unsupported_media_type');
  const byStatus = Map.groupBy(codes, (code) => ERROR_TABLE[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, some]) => [
      String(status),
      {
        description: some.map((code) => `\`${code}\`: ${ERROR_TABLE[code].when}`).join('\n\n'),
        headers: { ...headerRefs(), 'X-Gateway-Error': { schema: { enum: some } } },
        content: json({ $ref: '#/components/schemas/Error' }),
      },
    ]),
  );
}

/** RFC 7240. All writes accept it. */
const PREFER: Json = {
  name: 'Prefer',
  in: 'header',
  required: false,
  schema: { type: 'string' },
  example: 'wait=5',
  description: `\`wait=N\`: respond when every live data plane serves the change, after N seconds at the latest (at most ${MAX_WAIT_SECONDS}).`,
};

const WAIT_HEADERS: Json = {
  'Preference-Applied': {
    description: '`wait=N` if every live data plane served the change in time.',
    schema: { type: 'string' },
  },
  'X-Gateway-Wait': {
    description: 'Why the wait ended without that.',
    schema: { enum: WAIT_REASONS },
  },
};

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(query: z.ZodType): Json[] {
  const { properties = {}, required = [] } = schemaOf(query, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const document: Record<string, unknown> = {
    ...z.toJSONSchema(schema, { io, unrepresentable: 'any', override: simplify }),
  };
  delete document['$schema'];
  return document;
}

/** Removes the bounds that every number has, and the pattern of a named format. */
function simplify({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
}

function json(schema: Json): Json {
  return { 'application/json': { schema } };
}

const HEADER_TEXT: Readonly<Record<string, string>> = {
  [HEADER.requestId]: 'Stable identifier of the request, for logs and support.',
  [HEADER.latency]: 'Whole milliseconds spent in the gateway.',
  [HEADER.rateLimitLimit]: 'Calls that the current window allows.',
  [HEADER.rateLimitRemaining]: 'Calls left in the current window.',
  [HEADER.rateLimitReset]: 'Seconds to the end of the current window.',
};

function responseHeaders(): Json {
  return Object.fromEntries(
    Object.entries(HEADER_TEXT).map(([name, description]) => {
      const type = name === HEADER.requestId ? 'string' : 'integer';
      return [name, { description, required: true, schema: { type } }];
    }),
  );
}

function headerRefs(): Json {
  return Object.fromEntries(
    Object.keys(HEADER_TEXT).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

function errorSchema(): Json {
  const detail = z.object({ path: z.string(), message: z.string() });
  const error = z.object({
    code: z.enum(ERROR_CODES),
    message: z.string(),
    request_id: z.string(),
    details: z.array(detail).optional(),
  });
  return schemaOf(z.object({ error }), 'output');
}
