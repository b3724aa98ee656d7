import { z } from 'zod';
import { foldedName, HTTP_TOKEN } from '../http/headers.ts';
import { normalPath } from '../http/normal-path.ts';
import { isReservedField } from '../http/reserved-fields.ts';
import { refuseOddSubPath, SUB_PATH_REFUSALS } from '../http/sub-path/refuse-sub-path.ts';
import { listField, objectField, stringField } from './fields.ts';
import { MAX_PATH_CHARS, prefixText } from './route-match.ts';
import { templateProblem, withWordsForVariables } from './value-template.ts';

/* What a route changes of a request before its upstream gets it, and of the response of the upstream. */

const MAX_ITEMS = 32;
const MAX_NAME_CHARS = 128;
const MAX_VALUE_CHARS = 1024;

/** A text for which `problemOf` finds no problem. */
function checkedText(problemOf: (text: string) => string | undefined) {
  return z.string({ error: 'must be a string' }).superRefine((text, context) => {
    const message = problemOf(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
}

/** The characters of a path (RFC 3986 section 3.3), and the braces of variables. */
const PATH = /^\/[A-Za-z0-9\-._~!$&'()*+,;=:@%/{}]*$/;

const pathTemplate = checkedText((path) => {
  if (!PATH.test(path) || path.length > MAX_PATH_CHARS) {
    return `must be a path of at most ${MAX_PATH_CHARS} characters that begins with / and has no query`;
  }
  const problem = templateProblem(path);
  if (problem !== undefined) return problem;
  const constant = withWordsForVariables(path);
  const refusal = refuseOddSubPath(constant);
  if (refusal !== undefined) return SUB_PATH_REFUSALS[refusal];
  return normalPath(constant) === constant
    ? undefined
    : 'must be written in its normal form, without empty segments, segments of one dot and escapes of letters, digits and -._~';
});

const LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
const HOST = new RegExp(
  String.raw`^(?=.{1,253}(?::|$)|\[)(?:${LABEL}(?:\.${LABEL})*|\[[0-9A-Fa-f:.]{2,45}\])(?::[1-9][0-9]{0,4})?$`,
);

/** Values of `rewrite.host` that are no host. */
const HOST_WORDS = ['upstream', 'preserve'] as const;

/** A value with variables whose constants match the pattern. */
function valueText(error: string, pattern: RegExp) {
  return checkedText((text) => (pattern.test(text) ? templateProblem(text) : error));
}

const parameterName = stringField(
  new RegExp(String.raw`^[^\p{Cc}\p{Cs}{}]{1,${MAX_NAME_CHARS}}$`, 'u'),
  `must be 1 to ${MAX_NAME_CHARS} characters without control characters and braces`,
);

const parameterValue = valueText(
  `must be at most ${MAX_VALUE_CHARS} characters without control characters`,
  new RegExp(String.raw`^[^\p{Cc}\p{Cs}]{0,${MAX_VALUE_CHARS}}$`, 'u'),
);

function fieldName(of: 'request' | 'response') {
  return z
    .string({ error: 'must be a string' })
    .regex(HTTP_TOKEN, { error: 'must be the name of a header field' })
    .max(MAX_NAME_CHARS, { error: `must be at most ${MAX_NAME_CHARS} characters` })
    .superRefine((name, context) => {
      if (!isReservedField(name, of)) return;
      const message = `must not be ${name}: such a field frames, authenticates or traces a ${of}, or carries a promise of the gateway. A secret for the upstream belongs in the credential of its service`;
      context.addIssue({ code: 'custom', message });
    });
}

const fieldValue = valueText(
  `must be at most ${MAX_VALUE_CHARS} visible ASCII characters and spaces, without spaces at its ends`,
  new RegExp(`^(?:[!-~](?:[ -~]{0,${MAX_VALUE_CHARS - 2}}[!-~])?)?$`),
);

const itemsError = `must be a list of 0 to ${MAX_ITEMS} items`;
const VALUE_HELP = 'The value. It may have variables.';

function pairs(name: z.ZodType<string>, value: z.ZodType<string>, example: readonly string[]) {
  const [exampleName = '', exampleValue = ''] = example;
  return z
    .array(
      objectField({
        name: name.meta({ title: 'Name', description: 'The name.', examples: [exampleName] }),
        value: value.meta({ title: 'Value', description: VALUE_HELP, examples: [exampleValue] }),
      }),
      { error: itemsError },
    )
    .max(MAX_ITEMS, { error: itemsError });
}

function once<T extends z.ZodType<readonly { readonly name: string }[]>>(
  list: T,
  keyOf: (name: string) => string,
) {
  return list.superRefine((items, context) => {
    const keys = items.map(({ name }) => keyOf(name));
    keys.forEach((key, index) => {
      if (keys.indexOf(key) === index) return;
      context.addIssue({ code: 'custom', path: [index, 'name'], message: 'is there already' });
    });
  });
}

const PARAMETER = ['tenant', '{jwt.claims.tenant}'];

const queryField = objectField({
  set: once(pairs(parameterName, parameterValue, PARAMETER), (name) => name)
    .default([])
    .meta({
      title: 'Set parameters',
      description:
        'Parameters of the query with the only value that the upstream gets, whatever the caller sends.',
      examples: [[{ name: 'tenant', value: '{jwt.claims.tenant}' }]],
    }),
  remove: listField(parameterName, { min: 0, max: MAX_ITEMS })
    .default([])
    .meta({
      title: 'Remove parameters',
      description: 'The names of parameters of the query that the upstream does not get.',
      examples: [['debug']],
    }),
});

function headersField(of: 'request' | 'response', example: readonly string[]) {
  const receiver = of === 'request' ? 'upstream' : 'caller';
  const [exampleName = '', exampleValue = ''] = example;
  const examples = [[{ name: exampleName, value: exampleValue }]];
  return objectField({
    set: once(pairs(fieldName(of), fieldValue, example), foldedName)
      .default([])
      .meta({
        title: 'Set headers',
        description: `Header fields with the only value that the ${receiver} gets.`,
        examples,
      }),
    add: pairs(fieldName(of), fieldValue, example)
      .default([])
      .meta({
        title: 'Add headers',
        description: `Header fields that the ${receiver} gets besides others of the same name.`,
        examples,
      }),
    remove: listField(fieldName(of), { min: 0, max: MAX_ITEMS })
      .default([])
      .meta({
        title: 'Remove headers',
        description: `The names of header fields that the ${receiver} does not get.`,
        examples: [[exampleName]],
      }),
  });
}

/** What is rewritten. */
export const rewriteField = objectField({
  strip_prefix: prefixText
    .refine((path) => path !== '/', { error: 'must not be /, because nothing is stripped then' })
    .nullable()
    .default(null)
    .meta({
      title: 'Strip prefix',
      description:
        'The first segments of the path that the upstream does not get, of requests that reach the route by `match`. null: none.',
      examples: ['/api'],
    }),
  add_prefix: pathTemplate
    .refine((path) => !path.endsWith('/'), { error: 'must not end with a slash' })
    .nullable()
    .default(null)
    .meta({
      title: 'Add prefix',
      description: 'What comes before the path, within the URL of the upstream. null: nothing.',
      examples: ['/v3'],
    }),
  path: pathTemplate
    .nullable()
    .default(null)
    .meta({
      title: 'Path',
      description:
        'The whole path within the URL of the upstream, instead of `strip_prefix` and `add_prefix`. null: that of the request.',
      examples: ['/tenants/{jwt.claims.tenant}/{path.rest}'],
    }),
  host: z
    .string({ error: 'must be a string' })
    .refine(isHostValue, {
      error: `must be ${HOST_WORDS.join(', ')}, or a host with an optional port, such as api.internal:8080`,
    })
    .default('upstream')
    .meta({
      title: 'Host',
      description:
        'The `Host` that the upstream gets: `upstream`, that of its URL; `preserve`, that of the caller; or this host.',
      examples: ['preserve'],
    }),
  query: queryField
    .prefault({})
    .meta({ title: 'Query', description: 'What is changed of the query.' }),
  request_headers: headersField('request', ['X-Tenant', '{jwt.claims.tenant}']).prefault({}).meta({
    title: 'Request headers',
    description: 'What is changed of the fields of the request.',
  }),
  response_headers: headersField('response', ['Cache-Control', 'no-store']).prefault({}).meta({
    title: 'Response headers',
    description:
      'What is changed of the fields of responses of the upstream, also of stored ones. Errors of the gateway stay as they are.',
  }),
}).superRefine(({ strip_prefix, add_prefix, path }, context) => {
  if (path === null || (strip_prefix === null && add_prefix === null)) return;
  const message = 'must be left out if strip_prefix or add_prefix is given';
  context.addIssue({ code: 'custom', path: ['path'], message });
});

function isHostValue(host: string): boolean {
  if (!HOST.test(host)) return false;
  const port = /:(\d+)$/.exec(host)?.[1];
  return port === undefined || host.endsWith(']') || Number(port) <= 65_535;
}

export type RouteRewrite = z.output<typeof rewriteField>;
