import { z } from 'zod';
import { HOP_BY_HOP_FIELDS, HTTP_TOKEN } from '../http/headers.ts';
import { normalPath } from '../http/normal-path.ts';
import { listField, objectField, stringField } from './fields.ts';

const MAX_MATCHES = 16;
const MAX_HOSTS = 16;
const MAX_PATHS = 16;
const MAX_HEADERS = 8;
/** Hosts times paths of all matches. */
const MAX_COMBINATIONS = 256;
/** Longer paths and hosts only meet shorter prefixes, or nothing. */
export const MAX_PATH_CHARS = 1024;
export const MAX_HOST_CHARS = 253;

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
/** Underscores are not allowed: no certificate can have a name with one. */
const HOST_PATTERN = new RegExp(
  String.raw`^(?=.{1,${MAX_HOST_CHARS}}$)(?:\*\.)?${LABEL}(?:\.${LABEL})*$`,
);

/** Whether it is a host as a route can name it: exact, or with a leading `*.`. */
export function isHostPattern(text: string): boolean {
  return HOST_PATTERN.test(text);
}

const hostField = stringField(
  HOST_PATTERN,
  'must be a host name in lower case without port, such as api.example.com, or *.example.com for all names below it',
);

const pathError = `must be a path of at most ${MAX_PATH_CHARS} characters that begins with / and has no query`;

/** The characters of a path (RFC 3986 section 3.3). */
const pathText = stringField(/^\/[A-Za-z0-9\-._~!$&'()*+,;=:@%/]*$/, pathError)
  .max(MAX_PATH_CHARS, { error: pathError })
  .superRefine((path, context) => {
    const problem = pathProblem(path);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });

function pathProblem(path: string): string | undefined {
  if (/%(?![0-9A-Fa-f]{2})/.test(path)) return 'must have two hexadecimal digits after each %';
  const normal = normalPath(path);
  if (normal.split('/').includes('..')) return 'must not have a segment ..';
  return normal === path ? undefined : `must be written in its normal form, ${normal}`;
}

/** Paths that the gateway serves itself on every host that no route claims. */
const RESERVED_PATHS = ['/v1', '/console', '/docs'] as const;
/** Those that it serves on every host, always. */
const PROXY_PATH = '/v1/proxy';

/** Whether a path is one of these, or below one. */
export function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/');
}

/** Whether the gateway serves a path itself where no route claims the host. */
export function isReserved(path: string): boolean {
  return RESERVED_PATHS.some((reserved) => isBelow(path, reserved));
}

export const prefixText = pathText.refine((path) => path === '/' || !path.endsWith('/'), {
  error: 'must not end with a slash: a prefix ends at a segment by itself',
});

const pathField = objectField({
  exact: pathText.optional().meta({
    title: 'Exact path',
    description: 'The path of the request, without the query.',
    examples: ['/status'],
  }),
  prefix: prefixText.optional().meta({
    title: 'Path prefix',
    description:
      'The first segments of the path: `/v2` stands for `/v2` and for all paths below it.',
    examples: ['/v2/payments'],
  }),
})
  .refine(isOnePath, { error: 'must have either exact or prefix' })
  .meta({ title: 'Path' });

interface MatchedPath {
  readonly exact?: string | undefined;
  readonly prefix?: string | undefined;
}

/** Whether it says one path. */
export function isOnePath({ exact, prefix }: MatchedPath): boolean {
  return (exact === undefined) !== (prefix === undefined);
}

const RESERVED_FIELDS: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP_FIELDS,
  ...[
    'host',
    'content-length',
    'expect',
    'authorization',
    'proxy-authorization',
    'cookie',
    'x-api-key',
  ],
]);

const headerField = objectField({
  name: z
    .string({ error: 'must be a string' })
    .regex(HTTP_TOKEN, { error: 'must be the name of a header field' })
    .max(128, { error: 'must be at most 128 characters' })
    .refine((name) => !RESERVED_FIELDS.has(name.toLowerCase()), {
      error: 'must not be a field that frames, authenticates or addresses a request',
    })
    .meta({
      title: 'Header',
      description: 'The name of the field, in any case.',
      examples: ['X-Api-Version'],
    }),
  value: stringField(
    /^(?:[!-~](?:[ -~]{0,1022}[!-~])?)?$/,
    'must be at most 1024 visible ASCII characters and spaces, without spaces at its ends',
  ).meta({ title: 'Value', description: 'The whole value of the field.', examples: ['2'] }),
}).meta({ title: 'Header' });

const headersError = `must be a list of 0 to ${MAX_HEADERS} items`;
const pathsError = `must be a list of 0 to ${MAX_PATHS} items`;
const matchesError = `must be a list of 0 to ${MAX_MATCHES} items`;

export const oneMatch = objectField({
  hosts: listField(hostField, { min: 0, max: MAX_HOSTS })
    .default([])
    .meta({
      title: 'Hosts',
      description:
        'The hosts, exact or as `*.example.com` for every name below it. Empty: every host. A host belongs to one environment.',
      examples: [['api.example.com']],
    }),
  paths: z
    .array(pathField, { error: pathsError })
    .max(MAX_PATHS, { error: pathsError })
    .default([])
    .meta({
      title: 'Paths',
      description: 'The paths, each `exact` or a `prefix`. Empty: every path.',
      examples: [[{ prefix: '/v2/payments' }]],
    }),
  headers: z
    .array(headerField, { error: headersError })
    .max(MAX_HEADERS, { error: headersError })
    .default([])
    .meta({
      title: 'Headers',
      description: 'Header fields that the request must have, with their values.',
      examples: [[{ name: 'X-Api-Version', value: '2' }]],
    }),
}).superRefine(({ hosts, paths, headers }, context) => {
  if (hosts.length + paths.length + headers.length === 0) {
    context.addIssue({ code: 'custom', message: 'must have hosts, paths or headers' });
  }
  const names = headers.map(({ name }) => name.toLowerCase());
  names.forEach((name, index) => {
    if (names.indexOf(name) === index) return;
    const path = ['headers', index, 'name'];
    context.addIssue({ code: 'custom', path, message: 'is the name of another header' });
  });
  paths.forEach((one, index) => {
    const [kind, path] = one.exact === undefined ? ['prefix', one.prefix] : ['exact', one.exact];
    const reserved = hosts.length === 0 ? RESERVED_PATHS : [PROXY_PATH];
    const taken = reserved.find((prefix) => isBelow(path ?? '', prefix));
    if (taken === undefined) return;
    const message = `must not begin with ${taken}, which the gateway serves ${hosts.length === 0 ? 'where no host is named' : 'on every host'}`;
    context.addIssue({ code: 'custom', path: ['paths', index, kind], message });
  });
});

/** The hosts, paths and headers by which requests reach a route, besides `/v1/proxy/{name}`. */
export const matchField = z
  .array(oneMatch.meta({ title: 'Way' }), { error: matchesError })
  .max(MAX_MATCHES, { error: matchesError })
  .superRefine((matches, context) => {
    const combinations = matches.reduce(
      (sum, { hosts, paths }) => sum + Math.max(1, hosts.length) * Math.max(1, paths.length),
      0,
    );
    if (combinations > MAX_COMBINATIONS) {
      const message = `must have at most ${MAX_COMBINATIONS} combinations of a host and a path, not ${combinations}`;
      context.addIssue({ code: 'custom', message });
    }
    const seen = new Set<string>();
    matches.forEach((match, index) => {
      for (const condition of conditionsOf(match)) {
        const key = JSON.stringify(condition);
        if (seen.has(key)) {
          const message = 'must not repeat the host, path and headers of another one';
          context.addIssue({ code: 'custom', path: [index], message });
          return;
        }
        seen.add(key);
      }
    });
  })
  .default([]);

export type RouteMatch = z.output<typeof oneMatch>;

/** One host, one path and the headers of a match. */
export interface MatchCondition {
  /** Exact, or with a leading `*.`; empty: every host. */
  readonly host: string;
  readonly isExact: boolean;
  /** `/` as a prefix: every path. */
  readonly path: string;
  /** By name, which is in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** The patterns that a host meets, or that cover a pattern: itself, then its wildcards, the longest first. */
export function* patternsOf(host: string): Generator<string> {
  yield host;
  for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1)) {
    yield `*${host.slice(dot)}`;
  }
}

const EVERY_PATH: readonly MatchedPath[] = [{ prefix: '/' }];

/** All combinations of a host and a path of a match. Two that are equal as JSON are met by the same requests. */
export function* conditionsOf({ hosts, paths, headers }: RouteMatch): Generator<MatchCondition> {
  const sorted = headers
    .map(({ name, value }) => [name.toLowerCase(), value] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const host of hosts.length === 0 ? [''] : hosts) {
    for (const { exact, prefix = '/' } of paths.length === 0 ? EVERY_PATH : paths) {
      yield { host, isExact: exact !== undefined, path: exact ?? prefix, headers: sorted };
    }
  }
}
