import { stringField, objectField } from '@gateway/shared/definitions/fields';
import { foldedName, HEADER, HOP_BY_HOP_FIELDS, HTTP_TOKEN } from '@gateway/shared/http/headers';
import { METHOD_TOKEN } from '@gateway/shared/http/methods';
import { z } from 'zod';

/** The largest body of a request that is sent, bytes. */
export const MAX_SENT_BYTES = 1024 * 1024;
const MAX_TARGET_CHARS = 8192;
const MAX_HEADERS = 100;
/** Of all names and values together. A data plane reads 32 KiB by default. */
const MAX_HEADER_CHARS = 16 * 1024;
/** The largest body of the call itself: that of the request in base64, and its other fields in JSON. */
export const MAX_SEND_CALL_BYTES = Math.ceil(MAX_SENT_BYTES / 3) * 4 + 256 * 1024;

const VALUE = /^(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?$/;

const FRAMING = 'must not be given: it follows from the body';
const OF_CONNECTION = 'must not be given: it belongs to the connection';
const OF_PROXIES = 'must not be given: only proxies may say where a request comes from';

/** Fields that are not the sender's to choose, by their folded names, and why. */
const NOT_GIVEN: ReadonlyMap<string, string> = new Map([
  ...HOP_BY_HOP_FIELDS.map((name) => [name, OF_CONNECTION] as const),
  ['expect', OF_CONNECTION],
  ['content-length', FRAMING],
  ['transfer-encoding', FRAMING],
  ['host', 'must be given as host'],
  [HEADER.environment, 'must not be given: it is that of the route'],
  ...['forwarded', 'via', 'cdn-loop', 'x-real-ip'].map((name) => [name, OF_PROXIES] as const),
]);

function headerProblem(name: string): string | undefined {
  if (!HTTP_TOKEN.test(name)) return 'must be the name of a header';
  // Some servers read `-` and `_` as the same character.
  const folded = foldedName(name);
  return NOT_GIVEN.get(folded) ?? (folded.startsWith('x-forwarded-') ? OF_PROXIES : undefined);
}

const headersField = z
  .array(
    z.tuple([
      z.string({ error: 'must be a string' }),
      z.string({ error: 'must be a string' }).regex(VALUE, {
        error: 'must have no control characters, no spaces at its ends, and only Latin-1',
      }),
    ]),
    { error: 'must be a list of pairs of a name and a value' },
  )
  .max(MAX_HEADERS, { error: `must be at most ${MAX_HEADERS} headers` })
  .superRefine((headers, context) => {
    const chars = headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
    if (chars > MAX_HEADER_CHARS) {
      const message = `must be at most ${MAX_HEADER_CHARS} characters together`;
      context.addIssue({ code: 'custom', message });
    }
    headers.forEach(([name], index) => {
      const message = headerProblem(name);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [index, 0], message });
    });
  });

/** Whether no server in between can read the path as one outside of the route: no segment is `.` or `..`. */
function staysBelow(path: string): boolean {
  return !decodedDots(path)
    .split(/[/\\]/)
    .some((segment) => /^\.{1,2}(?:;.*)?$/.test(segment));
}

/** The path with the escapes decoded that some servers decode before they look at segments. */
function decodedDots(path: string): string {
  return path
    .replaceAll(/%2e/gi, '.')
    .replaceAll(/%2f/gi, '/')
    .replaceAll(/%5c/gi, '\\')
    .replaceAll(/%3b/gi, ';');
}

const bodyError = `must be at most ${MAX_SENT_BYTES / 1024 / 1024} MiB in base64`;

const bodyField = z
  .string({ error: bodyError })
  .max(Math.ceil(MAX_SENT_BYTES / 3) * 4, { error: bodyError })
  .transform((text, context) => {
    const body = Buffer.from(text, 'base64');
    if (body.toString('base64') === text && body.length <= MAX_SENT_BYTES) return body;
    context.addIssue({ code: 'custom', message: bodyError });
    return z.NEVER;
  });

/** How the request is authenticated: not at all, with a token of the call, or with one of ten minutes. */
export const SEND_TOKENS = ['none', 'given', 'minted'] as const;

/** The body of `POST /console/send`. */
export const sendInputSchema = objectField({
  route_id: z.string({ error: 'must be the id of a route' }),
  method: stringField(METHOD_TOKEN, 'must be a method such as GET').refine(
    (method) => method !== 'CONNECT',
    { error: 'must not be CONNECT, which asks for a tunnel' },
  ),
  /** After `/v1/proxy/{route}`. */
  path: stringField(
    /^(?:\/[!-"$->@-~]*)?$/,
    'must be empty, or begin with / and consist of visible ASCII characters without ? and #',
  )
    .max(MAX_TARGET_CHARS, { error: `must be at most ${MAX_TARGET_CHARS} characters` })
    .refine(staysBelow, { error: 'must have no segment . or ..' })
    .default(''),
  /** Without its question mark. */
  query: stringField(/^[!-"$-~]*$/, 'must consist of visible ASCII characters without #')
    .max(MAX_TARGET_CHARS, { error: `must be at most ${MAX_TARGET_CHARS} characters` })
    .default(''),
  /** One of the hosts of the route; null: that of the data plane. */
  host: z
    .string({ error: 'must be a string or null' })
    .max(253, { error: 'must be at most 253 characters' })
    .nullable()
    .default(null),
  headers: headersField.default([]),
  body: bodyField.default(Buffer.alloc(0)),
  token: z.enum(SEND_TOKENS, { error: `must be one of ${SEND_TOKENS.join(', ')}` }),
});

export type SendInput = z.output<typeof sendInputSchema>;

/** The path and the query that a data plane gets. The path names the route, so the request can reach no other one. */
export function targetOf(
  route: string,
  { path, query }: Pick<SendInput, 'path' | 'query'>,
): string {
  return `/v1/proxy/${route}${path}${query === '' ? '' : `?${query}`}`;
}
