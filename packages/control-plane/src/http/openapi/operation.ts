import type { z } from 'zod';
import type { Endpoint } from '../endpoint.ts';
import { exampleOf } from './examples.ts';
import {
  IDEMPOTENCY_KEY,
  IF_MATCH,
  IF_NONE_MATCH,
  IF_NONE_MATCH_OF_PUT,
  PREFER,
} from './headers.ts';
import { responses } from './responses.ts';
import type { Json, Components } from './components.ts';

/** The operation of an endpoint. Its schemas with an id are added to `schemas`. */
export function operation(endpoint: Endpoint, components: Components): Json {
  const { operationId, tag, summary, description, scope, deprecated } = endpoint;
  const rule = scope === null ? 'Any token may call it.' : `It needs the scope \`${scope}\`.`;
  const { rights = rule } = endpoint;
  const parts = [deprecated && `**Deprecated.** ${deprecated}`, description, rights];
  const parameters = parametersOf(endpoint, components);
  return {
    operationId,
    tags: [tag],
    summary,
    description: parts.filter(Boolean).join('\n\n'),
    ...(deprecated === undefined ? {} : { deprecated: true }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...bodyOf(endpoint, components),
    responses: responses(endpoint, components),
  };
}

function bodyOf({ body }: Endpoint, components: Components): Json {
  if (body === undefined) return {};
  const schema = components.jsonOf(body, 'input');
  const media = { schema, example: exampleOf(schema, components) };
  // A body whose fields are all optional may be left out if its schema says so with a default.
  const required = !body.safeParse(undefined).success;
  return { requestBody: { required, content: { 'application/json': media } } };
}

function parametersOf(endpoint: Endpoint, components: Components): Json[] {
  const { method, params, query, etag = false, errors, ifMatch = method !== 'POST' } = endpoint;
  // A POST may have a precondition in its body.
  const isConditional = ifMatch && errors.includes('precondition_failed');
  const inPath = Object.entries(params).map(([name, schema]) =>
    parameter('path', name, true, components.jsonOf(schema, 'input')),
  );
  const headers = [
    ...(method === 'GET' && etag ? [IF_NONE_MATCH] : []),
    ...(isConditional ? [IF_MATCH] : []),
    ...(isConditional && method === 'PUT' ? [IF_NONE_MATCH_OF_PUT] : []),
    ...(method === 'POST' ? [IDEMPOTENCY_KEY] : []),
    ...(method === 'GET' ? [] : [PREFER]),
  ];
  return [...inPath, ...queryParameters(query, components), ...headers];
}

function queryParameters(query: z.ZodType, components: Components): Json[] {
  const { properties = {}, required = [] } = components.jsonOf(query, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) =>
    parameter('query', name, required.includes(name), schema),
  );
}

function parameter(place: 'path' | 'query', name: string, required: boolean, given: Json): Json {
  const { description, examples, ...schema } = given;
  const example = Array.isArray(examples) ? (examples[0] as unknown) : undefined;
  return { name, in: place, required, description, schema, example };
}
