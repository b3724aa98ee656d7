import { z } from 'zod';
import { HTTP_TOKEN } from '../http/headers.ts';
import { METHOD_TOKEN } from '../http/methods.ts';
import { booleanField, integerField, listField, objectField, stringField } from './fields.ts';

/* Which pages of other origins may read responses of a route (https://fetch.spec.whatwg.org/#http-cors-protocol). */

const MAX_ORIGINS = 64;
const MAX_METHODS = 64;
const MAX_HEADERS = 64;
/** Browsers keep the answer to a preflight for at most this long. */
const MAX_AGE_S = 86_400;

/** Stands for every origin, header or response header. */
export const EVERY = '*';

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const NAME = String.raw`${LABEL}(?:\.${LABEL})*`;
const ORIGIN = new RegExp(
  String.raw`^([a-z][a-z0-9+.-]{0,63}):\/\/(\*\.)?(${NAME}|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?$`,
);
/** A longer one cannot be that of a host. */
const MAX_ORIGIN_CHARS = 320;

const originField = z.string({ error: 'must be a string' }).superRefine((origin, context) => {
  const message = originProblem(origin);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

function originProblem(origin: string): string | undefined {
  if (origin === EVERY) return undefined;
  if (origin === 'null') {
    return 'must not be null, which is the origin of any sandboxed frame, whoever wrote it';
  }
  const parts = origin.length > MAX_ORIGIN_CHARS ? null : ORIGIN.exec(origin);
  if (parts === null) {
    return 'must be an origin in the form in which browsers send it, such as https://app.example.com or http://localhost:3000, or https://*.example.com for all names below it';
  }
  const [, scheme = '', wildcard, host = ''] = parts;
  if (wildcard !== undefined && host !== 'localhost' && !/\..*[a-z]/.test(host)) {
    return 'must have a name of at least two labels after *.';
  }
  return normalProblem(scheme, origin);
}

/** Of other schemes, such as those of apps and extensions, nothing but the form is known. */
function normalProblem(scheme: string, origin: string): string | undefined {
  if (scheme !== 'http' && scheme !== 'https') return undefined;
  const url = origin.replace('://*.', '://any.');
  if (!URL.canParse(url)) return 'must have a host and a port that exist';
  const normal = new URL(url).origin;
  if (normal === url) return undefined;
  const shown = url === origin ? normal : normal.replace('://any.', '://*.');
  return `must be written as browsers send it, ${shown}`;
}

const methodField = stringField(
  METHOD_TOKEN,
  "must be 1 to 32 characters of letters, digits and !#$%&'*+-.^_`|~",
).refine((method) => method !== EVERY, {
  error: 'must be a method; null stands for all methods of the route',
});

const headerNameField = stringField(HTTP_TOKEN, 'must be the name of a header, or *').max(128, {
  error: 'must be at most 128 characters',
});

/** Names of headers, or `*` alone. */
const namesField = listField(headerNameField, { min: 0, max: MAX_HEADERS }).refine(isAlone, {
  error: 'must not have another item beside *',
});

function isAlone(names: readonly string[]): boolean {
  return names.length === 1 || !names.includes(EVERY);
}

export const corsField = objectField({
  origins: listField(originField, { min: 1, max: MAX_ORIGINS })
    .refine(isAlone, { error: 'must not have another item beside *' })
    .meta({
      title: 'Origins',
      description:
        'The origins whose pages may read responses: exact, such as `https://app.example.com`; `https://*.example.com` for every name below it; or `*` for every origin.',
      examples: [['https://app.example.com']],
    }),
  methods: listField(methodField, { min: 1, max: MAX_METHODS })
    .nullable()
    .default(null)
    .meta({
      title: 'Methods',
      description:
        'The methods that these pages may use, of those that the route accepts. null: all of them.',
      examples: [['GET', 'POST']],
    }),
  headers: namesField.default([EVERY]).meta({
    title: 'Request headers',
    description: 'The headers that these pages may send. `*`: every header.',
    examples: [['Authorization', 'Content-Type']],
  }),
  expose: namesField.default([]).meta({
    title: 'Response headers',
    description:
      'The headers of responses that these pages may read, besides those of the gateway and those that every page may read. `*`: every header.',
    examples: [['X-Total-Count']],
  }),
  credentials: booleanField()
    .default(false)
    .meta({
      title: 'Allow cookies',
      description:
        'Whether pages may send cookies, and read the responses to them. Not with `*` in `origins` or `expose`.',
      examples: [false],
    }),
  max_age_s: integerField(0, MAX_AGE_S)
    .default(600)
    .meta({
      title: 'Keep preflights',
      'x-unit': 'seconds',
      description: 'How long a browser may keep the answer to a preflight.',
      examples: [600],
    }),
}).superRefine(({ origins, expose, credentials }, context) => {
  if (!credentials) return;
  for (const [name, items] of Object.entries({ origins, expose })) {
    if (!items.includes(EVERY)) continue;
    const message = 'must not be * with credentials: browsers would refuse the response';
    context.addIssue({ code: 'custom', path: [name], message });
  }
});

export type RouteCors = z.output<typeof corsField>;
