import { ERRORS_PATH, titleOf } from '@gateway/shared/errors/error-content';
import { ERROR_CODES } from '@gateway/shared/errors/error-table';
import { z } from 'zod';
import type { Endpoint } from '../endpoint.ts';
import { TAGS } from '../tags.ts';
import { errorExample, EXAMPLE_REQUEST_ID, exampleRef } from './examples.ts';
import { HEADER_COMPONENTS } from './headers.ts';
import { operation } from './operation.ts';
import { documentResponses, ERROR, PROBLEM } from './responses.ts';
import { Components, type Json } from './components.ts';

export const OPENAPI_PATH = '/v1/openapi.json';

const INTRODUCTION = `This API configures the gateway and shows what it did. Traffic does not use it: callers send
requests to \`/v1/proxy/{route}\`.

- **Authentication.** Send \`Authorization: Bearer <token>\`. A token covers environments, routes and scopes. A resource
  that it does not cover is answered with 401, and lists leave it out.
- **Bodies.** Bodies are JSON. A resource is answered as \`{"data": {…}, "request_id": "…"}\`. An unknown field is
  refused with 400.
- **Lists.** A list has \`data\` and \`next_cursor\`. Send \`next_cursor\` as \`cursor\` to read the next page. It is
  \`null\` on the last page.
- **Errors.** An error is \`{"error": {"code", "message", "request_id", "details"}}\`. The code is stable, and the
  header \`X-Gateway-Error\` repeats it. \`details\` names each invalid field. A caller whose \`Accept\` names
  \`application/problem+json\` gets the members of problem details (RFC 9457) beside \`error\`.
- **Lost updates.** Send the \`ETag\` of a response as \`If-Match\`. If somebody else has changed the resource in the
  meantime, the answer is 412 and nothing is changed.
- **Methods.** HEAD works wherever GET does.
- **Malformed HTTP.** A request that is not valid HTTP is answered with 400, 408, 414, 431 or 505 before it reaches an
  operation.`;

/**
 * The OpenAPI 3.1 document of the management API. It is derived from the schemas that the endpoints validate with and
 * from the error table, so it cannot differ from what the service does.
 */
export function openApiDocument(endpoints: readonly Endpoint[]): Json {
  const components = new Components();
  components.add(ERROR, components.jsonOf(errorSchema, 'output'));
  components.add(PROBLEM, components.jsonOf(problemSchema, 'output'));
  const paths: Record<string, Record<string, Json>> = {};
  for (const endpoint of endpoints) {
    const operations = (paths[endpoint.path] ??= {});
    operations[endpoint.method.toLowerCase()] = operation(endpoint, components);
  }
  paths[OPENAPI_PATH] = { get: documentOperation(components) };
  const used = new Set(['Description', ...endpoints.map(({ tag }) => tag)]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gateway management API',
      version: 'v1',
      description: INTRODUCTION,
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The gateway that serves this document.' }],
    security: [{ token: [] }],
    tags: Object.entries(TAGS)
      .filter(([name]) => used.has(name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token of `POST /v1/tokens`. Its secret begins with `gwt_`.',
        },
      },
      headers: HEADER_COMPONENTS,
      examples: errorExamples(components.responses()),
      responses: components.responses(),
      schemas: components.schemas(),
    },
  };
}

/** The example of each error that an operation may answer. */
function errorExamples(responses: Json): Json {
  const text = JSON.stringify(responses);
  const used = ERROR_CODES.filter((code) => text.includes(`"${exampleRef(code)}"`));
  return Object.fromEntries(
    used.map((code) => [code, { summary: code, value: errorExample(code) }]),
  );
}

function documentOperation(components: Components): Json {
  return {
    operationId: 'getOpenApiDocument',
    tags: ['Description'],
    summary: 'Read this document',
    description: 'Returns the OpenAPI document of the management API. It needs no token.',
    security: [],
    responses: documentResponses(components),
  };
}

const errorSchema = z
  .object({
    error: z
      .object({
        code: z.enum(ERROR_CODES).meta({
          description: 'What went wrong. A code keeps its meaning; new codes may be added.',
          examples: ['invalid_request'],
        }),
        message: z.string().meta({
          description: 'What went wrong, for people. The text may change.',
          examples: [
            'The request is not valid: timeout_ms: must be a whole number from 1 to 300000.',
          ],
        }),
        request_id: z.string().meta({
          description: 'The id of the request, as in the header `X-Request-Id`.',
          examples: [EXAMPLE_REQUEST_ID],
        }),
        details: z
          .array(
            z.object({
              path: z.string().meta({
                description: 'The field, such as `retry.backoff_ms`. Empty: the whole body.',
                examples: ['timeout_ms'],
              }),
              message: z.string().meta({
                description: 'The rule that the value breaks.',
                examples: ['must be a whole number from 1 to 300000'],
              }),
            }),
          )
          .optional()
          .meta({ description: 'Each invalid field, at most 50.' }),
      })
      .meta({ description: 'What went wrong.' }),
  })
  .meta({ description: 'The body of every error.' });

const problemSchema = z
  .object({
    type: z.string().meta({
      description: 'What went wrong, as a reference to the description of the code.',
      examples: [`${ERRORS_PATH}#invalid_request`],
    }),
    title: z.string().meta({
      description: 'What went wrong, the same for each error with the code.',
      examples: [titleOf('invalid_request')],
    }),
    status: z.int().meta({ description: 'The status of the response.', examples: [400] }),
    detail: z.string().meta({
      description: 'The message of `error`.',
      examples: ['The request is not valid: timeout_ms: must be a whole number from 1 to 300000.'],
    }),
    instance: z.string().meta({
      description:
        'This error, by the id of the request. For a request to a route it is the path of its record.',
      examples: [`/v1/requests/${EXAMPLE_REQUEST_ID}`],
    }),
    ...errorSchema.shape,
  })
  .meta({ description: 'The body of an error as problem details (RFC 9457).' });
