import { z } from 'zod';
import { foldedName, HEADER, HOP_BY_HOP_FIELDS, HTTP_TOKEN } from '../http/headers.ts';
import { booleanField, choiceField, objectField } from './fields.ts';

/** The header in which MCP carries its sessions. */
const DEFAULT_SESSION_HEADER = 'Mcp-Session-Id';
/** The cookie that the gateway sets. */
const DEFAULT_GATEWAY_COOKIE = 'gateway_affinity';

const RESERVED_FIELDS: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP_FIELDS,
  ...Object.values(HEADER),
  ...['host', 'content-length', 'expect', 'authorization', 'proxy-authorization'],
  ...['cookie', 'set-cookie', 'x-api-key', 'idempotency-key'],
]);

/** Names that an upstream could read as one of those are refused too. */
const headerName = nameField('a header field').refine(
  (name) => {
    const folded = foldedName(name);
    return !RESERVED_FIELDS.has(folded) && !/^x-(?:gateway|forwarded)-/.test(folded);
  },
  { error: 'must not be a field that frames or authenticates a request, or that the gateway sets' },
);

function nameField(kind: string) {
  return z
    .string({ error: 'must be a string' })
    .regex(HTTP_TOKEN, { error: `must be the name of ${kind}` })
    .max(128, { error: 'must be at most 128 characters' });
}

export const AFFINITY_KINDS = [
  'token',
  'ip',
  'header',
  'gateway_cookie',
  'upstream_cookie',
  'upstream_header',
] as const;
export type AffinityKind = (typeof AFFINITY_KINDS)[number];

/** Which name each kind has: `null` names none. */
const NAMES: Readonly<
  Record<AffinityKind, { readonly field: 'header' | 'cookie'; readonly usual?: string } | null>
> = {
  token: null,
  ip: null,
  header: { field: 'header' },
  gateway_cookie: { field: 'cookie', usual: DEFAULT_GATEWAY_COOKIE },
  upstream_cookie: { field: 'cookie' },
  upstream_header: { field: 'header', usual: DEFAULT_SESSION_HEADER },
};

/** By what the requests of a caller find the same upstream of the service. */
export const affinityField = objectField({
  by: choiceField(AFFINITY_KINDS, {
    token: 'Each caller',
    ip: 'Each client address',
    header: 'A header of the caller',
    gateway_cookie: 'A cookie of the gateway',
    upstream_cookie: 'A session cookie of the upstream',
    upstream_header: 'A session header of the upstream',
  }).meta({
    title: 'By',
    description:
      'What belongs together. `token`: the requests of a token, of a JWT subject, or of an address on a route without authentication. `ip`: those of an address (a /64 of IPv6). `header`: those with the same value in `header`. `gateway_cookie`: those of a browser, which gets a cookie of the gateway. `upstream_cookie` and `upstream_header`: those of a session that an upstream has begun, by the id that it gave the caller in `cookie` or `header`.',
    examples: ['upstream_header'],
  }),
  header: headerName
    .nullable()
    .default(null)
    .meta({
      title: 'Header',
      description: `The header with the value or the id of the session. null: \`${DEFAULT_SESSION_HEADER}\` with \`upstream_header\`.`,
      examples: ['Mcp-Session-Id'],
    }),
  cookie: nameField('a cookie')
    .nullable()
    .default(null)
    .meta({
      title: 'Cookie',
      description: `The cookie with the id of the session. null: \`${DEFAULT_GATEWAY_COOKIE}\` with \`gateway_cookie\`.`,
      examples: ['JSESSIONID'],
    }),
  retry_elsewhere: booleanField()
    .default(false)
    .meta({
      title: 'Retry at other upstreams',
      description:
        'Whether a retry may go to another upstream. If not, it goes to the same one again.',
      examples: [false],
    }),
}).superRefine((affinity, context) => {
  // Browsers take such a cookie only over TLS, with attributes that depend on the prefix.
  if (affinity.by === 'gateway_cookie' && /^__(?:host|secure)-/i.test(affinity.cookie ?? '')) {
    const message = 'must not begin with __Host- or __Secure- with by gateway_cookie';
    context.addIssue({ code: 'custom', path: ['cookie'], message });
  }
  const named = NAMES[affinity.by];
  for (const field of ['header', 'cookie'] as const) {
    const isGiven = affinity[field] !== null;
    if (isGiven && named?.field !== field) {
      const message = `must be null with by ${affinity.by}`;
      context.addIssue({ code: 'custom', path: [field], message });
    }
    if (!isGiven && named?.field === field && named.usual === undefined) {
      const message = `is required with by ${affinity.by}`;
      context.addIssue({ code: 'custom', path: [field], message });
    }
  }
});

export type RouteAffinity = z.output<typeof affinityField>;

/** The name of the header or the cookie: the one that is given, else the default; empty if the kind has none. */
export function affinityName({ by, header, cookie }: RouteAffinity): string {
  return header ?? cookie ?? NAMES[by]?.usual ?? '';
}

export interface BelongingRoute {
  readonly affinity?: object | null | undefined;
  /** Not null: the route answers itself. */
  readonly respond?: object | null | undefined;
  readonly redirect?: object | null | undefined;
}

/** Why the route can have no affinity. */
export function* affinityProblems({ affinity, respond, redirect }: BelongingRoute) {
  if (affinity && (respond || redirect)) {
    yield { path: ['affinity'], message: 'must be null on a route that answers itself' };
  }
}
