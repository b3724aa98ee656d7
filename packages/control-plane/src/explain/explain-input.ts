import { isIP } from 'node:net';
import { HTTP_TOKEN, foldedName, HEADER } from '@gateway/shared/http/headers';
import { METHOD_TOKEN } from '@gateway/shared/http/methods';
import {
  EXPLAIN_FORMAT,
  STAND_IN_SECRET,
  type ExplainQuestion,
} from '@gateway/shared/explain/explain-messages';
import { z } from 'zod';
import { dataPlaneField } from '../data-planes/data-plane-field.ts';
import { objectField, stringField } from '@gateway/shared/definitions/fields';
import { isBelow } from '@gateway/shared/definitions/route-match';
import type { Route } from '../routes/route.ts';

const MAX_TARGET_CHARS = 8192;
const MAX_HEADERS = 200;
/** Of all names and values together. */
const MAX_HEADER_CHARS = 64 * 1024;
const MAX_BODY_CHARS = 64 * 1024;
const VALUE = /^[\t -~\x80-\xff]*$/;
/** They follow from the body, or belong to requests of another kind. */
const NOT_GIVEN = new Map([
  ['content-length', 'must not be given: it follows from body'],
  ['transfer-encoding', 'must not be given: it follows from body'],
  ['upgrade', 'must not be given: upgrades are not explained'],
]);
/** The fields that may carry the token of a caller. */
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'x-api-key']);

const headerValue = z
  .string({ error: 'must be a string or a list of strings' })
  .regex(VALUE, { error: 'must have no control characters and none outside of Latin-1' });

const headersField = z
  .record(
    z.string(),
    z.union([headerValue, z.array(headerValue).min(1).max(MAX_HEADERS)], {
      error: 'must be a string or a list of strings without control characters',
    }),
    { error: 'must be an object of names and values' },
  )
  .superRefine((headers, context) => {
    const names = Object.keys(headers);
    if (names.length > MAX_HEADERS) {
      context.addIssue({ code: 'custom', message: `must have at most ${MAX_HEADERS} names` });
    }
    if (charsOf(headers) > MAX_HEADER_CHARS) {
      const message = `must be at most ${MAX_HEADER_CHARS} characters together`;
      context.addIssue({ code: 'custom', message });
    }
    for (const name of names.slice(0, MAX_HEADERS)) {
      const message = HTTP_TOKEN.test(name)
        ? NOT_GIVEN.get(name.toLowerCase())
        : 'must be the name of a header';
      if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
    }
  });

/** The length of the names and values, a name counted for each of its values. */
function charsOf(headers: Readonly<Record<string, string | readonly string[]>>): number {
  let chars = 0;
  for (const [name, values] of Object.entries(headers)) {
    for (const value of [values].flat()) chars += name.length + value.length;
  }
  return chars;
}

/** The body of `POST /v1/routes/{id}/explain`. */
export const explainInputSchema = objectField({
  method: stringField(METHOD_TOKEN, 'must be a method such as GET')
    .default('GET')
    .meta({ description: 'The method of the request.', examples: ['POST'] }),
  host: z
    .string({ error: 'must be a string or null' })
    .regex(/^[\w.:[\]-]{1,300}$/, {
      error: 'must be a host name or address, with a port or without',
    })
    .nullable()
    .default(null)
    .meta({
      description:
        'The host that the caller asks. Then `path` is the whole path, and the answer says whether the request reaches the route by one of its ways (`match`). null: the request names the route.',
      examples: ['api.example.com'],
    }),
  path: stringField(
    /^(?:\/[!->@-~]*)?$/,
    'must be empty, or begin with / and consist of visible ASCII characters without ?',
  )
    .max(MAX_TARGET_CHARS, { error: `must be at most ${MAX_TARGET_CHARS} characters` })
    .default('')
    .meta({
      description:
        'The path after the name of the route: empty, or beginning with /. With `host`: the whole path.',
      examples: ['/orders/17'],
    }),
  query: stringField(/^[!-~]*$/, 'must consist of visible ASCII characters')
    .max(MAX_TARGET_CHARS, { error: `must be at most ${MAX_TARGET_CHARS} characters` })
    .default('')
    .meta({
      description: 'The query, with its question mark or without.',
      examples: ['currency=EUR'],
    }),
  headers: headersField.default({}).meta({
    description:
      'The headers, by name; a value is a string or a list of strings. Host, and X-Gateway-Environment with the environment of the route, are added if they are missing; no other environment may be named. Values are not logged or stored, and are not in the answer.',
    examples: [{ 'Idempotency-Key': 'order-17' }],
  }),
  body: z
    .string({ error: 'must be a string or null' })
    .max(MAX_BODY_CHARS, { error: `must be at most ${MAX_BODY_CHARS} characters` })
    .nullable()
    .default(null)
    .meta({
      description: 'The body. A key is compared with the body of its first request.',
      examples: ['{"amount":1250}'],
    }),
  token_id: z
    .string({ error: 'must be a string or null' })
    .nullable()
    .default(null)
    .meta({
      description:
        'The id of the token that the caller presents, in the header that the route requires. It must cover no more than the token of the call. null: what `headers` has counts, a JWT for example.',
      examples: ['tok_01kb5zv4x8n3m6q9r2t7w0y1z4'],
    }),
  anonymous: z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .meta({ description: 'Whether the caller presents no credential.', examples: [false] }),
  client_ip: z
    .string({ error: 'must be a string or null' })
    .refine((text) => isIP(text) > 0, { error: 'must be an IPv4 or IPv6 address' })
    .nullable()
    .default(null)
    .meta({
      description: 'The address that the connection comes from. null: that of this call.',
      examples: ['203.0.113.7'],
    }),
  data_plane: dataPlaneField('a live one with the newest configuration'),
})
  .superRefine(({ host, path, headers }, context) => {
    if (host === null) return;
    const refuse = (where: readonly string[], message: string) =>
      context.addIssue({ code: 'custom', path: [...where], message });
    if (path === '') refuse(['path'], 'must begin with / if host is given');
    if (isBelow(path, '/v1/proxy')) {
      refuse(['path'], 'must not name a route if host is given; leave out host');
    }
    const name = Object.keys(headers).find((one) => one.toLowerCase() === 'host');
    if (name !== undefined) refuse(['headers', name], 'must not be given with host');
  })
  .superRefine(({ anonymous, token_id: tokenId, headers }, context) => {
    if (!anonymous) return;
    if (tokenId !== null) {
      const message = 'must not be given with anonymous';
      context.addIssue({ code: 'custom', path: ['token_id'], message });
    }
    for (const name of Object.keys(headers)) {
      if (!CREDENTIALS.has(name.toLowerCase())) continue;
      const message = 'must not be given with anonymous';
      context.addIssue({ code: 'custom', path: ['headers', name], message });
    }
  })
  .meta({
    id: 'ExplainQuestion',
    description: 'A request that is asked about.',
    examples: [
      {
        method: 'POST',
        path: '/17',
        headers: { 'Idempotency-Key': 'order-17' },
        body: '{"amount":1250}',
        token_id: 'tok_01kb5zv4x8n3m6q9r2t7w0y1z4',
        client_ip: '203.0.113.7',
      },
    ],
  });

export type ExplainInput = z.output<typeof explainInputSchema>;

/** The header in which callers of the route present a token. */
export function tokenHeaderOf({ auth }: Pick<Route, 'auth'>): 'authorization' | 'x-api-key' {
  return auth.type === 'api_key' ? 'x-api-key' : 'authorization';
}

/** The name under which `headers` has this header, or undefined. */
export function givenName(input: ExplainInput, header: string): string | undefined {
  return Object.keys(input.headers).find((name) => name.toLowerCase() === header);
}

/**
 * The name of a header with which a data plane could read another environment than that of the route, or undefined.
 * The answer would speak of another route than the one that is asked about.
 */
export function otherEnvironmentField(
  { environment }: Pick<Route, 'environment'>,
  { headers }: ExplainInput,
): string | undefined {
  return Object.keys(headers).find(
    (name) =>
      foldedName(name) === HEADER.environment &&
      [headers[name] ?? []].flat().some((value) => withoutOuterBlanks(value) !== environment),
  );
}

/** A value as it arrives (RFC 9110 section 5.5). */
function withoutOuterBlanks(value: string): string {
  return value.replace(/^[ \t]+|[ \t]+$/g, '');
}

/** The question for a data plane. */
export function questionOf(
  route: Pick<Route, 'name' | 'environment' | 'auth'>,
  input: ExplainInput,
  callerAddress: string,
): ExplainQuestion {
  const { method, host, path, query, headers, body, token_id, client_ip } = input;
  const fields: string[] = [];
  if (givenName(input, 'host') === undefined) fields.push('host', host ?? 'gateway');
  if (givenName(input, HEADER.environment) === undefined) {
    fields.push(HEADER.environment, route.environment);
  }
  if (token_id !== null) {
    const header = tokenHeaderOf(route);
    fields.push(header, header === 'x-api-key' ? STAND_IN_SECRET : `Bearer ${STAND_IN_SECRET}`);
  }
  for (const [name, values] of Object.entries(headers)) {
    for (const value of [values].flat()) {
      fields.push(name, withoutOuterBlanks(value));
    }
  }
  return {
    format: EXPLAIN_FORMAT,
    method,
    path: host === null ? `/v1/proxy/${route.name}${path}` : path,
    query: query === '' || query.startsWith('?') ? query : `?${query}`,
    fields,
    body,
    token_id,
    client_ip: client_ip ?? callerAddress,
    asked: host === null ? null : { environment: route.environment, name: route.name },
  };
}
