import { HTTP_TOKEN } from '../http/headers.ts';
import { z } from 'zod';
import { objectField, stringField } from './fields.ts';
import { REDIRECT_STATUSES } from './route-redirect.ts';

const MAX_BODY_BYTES = 64 * 1024;
const MAX_CONTENT_TYPE_CHARS = 256;

/** Statuses without a body (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
export const BODILESS_STATUSES: ReadonlySet<number> = new Set([204, 205, 304]);

/** Statuses that need a field which the answer does not have (RFC 9110 section 15), or have a field of their own. */
const REFUSED_STATUSES: Readonly<Record<number, string>> = {
  206: 'it needs Content-Range',
  401: 'it needs WWW-Authenticate',
  405: 'it needs Allow',
  407: 'it needs Proxy-Authenticate',
  426: 'it needs Upgrade',
  ...Object.fromEntries(REDIRECT_STATUSES.map((one) => [one, '`redirect` answers so'])),
};

const statusError = 'must be a whole number from 200 to 599';

const statusField = z
  .int({ error: statusError })
  .min(200, { error: statusError })
  .max(599, { error: statusError })
  .superRefine((status, context) => {
    const reason = REFUSED_STATUSES[status];
    if (reason === undefined) return;
    context.addIssue({ code: 'custom', message: `must not be ${status}: ${reason}` });
  });

const bodyError = `must be a string of at most ${MAX_BODY_BYTES} bytes`;

/** Without its anchors. */
const TOKEN = HTTP_TOKEN.source.slice(1, -1);
const QUOTED = String.raw`"(?:[ !#-\[\]-~]|\\[ -~])*"`;
/** RFC 9110 section 8.3.1. */
const MEDIA_TYPE = new RegExp(
  `^(?=.{1,${MAX_CONTENT_TYPE_CHARS}}$)${TOKEN}/${TOKEN}(?:;[ ]?${TOKEN}=(?:${TOKEN}|${QUOTED}))*$`,
);

/** The answer that a route gives itself. */
export const respondField = objectField({
  status: statusField.default(200).meta({
    title: 'Status',
    description:
      'The status. Not those that need another header field (206, 401, 405, 407, 426), and no redirect.',
    examples: [503],
  }),
  body: z
    .string({ error: 'must be a string' })
    .refine((text) => Buffer.byteLength(text) <= MAX_BODY_BYTES, { error: bodyError })
    // Postgres stores neither.
    .refine((text) => text.isWellFormed() && !text.includes('\0'), {
      error: 'must not contain U+0000 or lone surrogates',
    })
    .default('')
    .meta({
      title: 'Body',
      description: `The body, as it is: no variables. At most ${MAX_BODY_BYTES} bytes of UTF-8.`,
      examples: ['{"message":"We are back at 6:00."}'],
    }),
  content_type: stringField(
    MEDIA_TYPE,
    'must be a media type such as application/json or text/html; charset=utf-8',
  )
    .default('text/plain; charset=utf-8')
    .meta({
      title: 'Content type',
      description: 'The media type of the body. An answer without a body has none.',
      examples: ['application/json'],
    }),
}).superRefine(({ status, body }, context) => {
  if (body === '' || !BODILESS_STATUSES.has(status)) return;
  const message = `must be empty, because an answer with the status ${status} has no body`;
  context.addIssue({ code: 'custom', path: ['body'], message });
});

export type RouteRespond = z.output<typeof respondField>;
