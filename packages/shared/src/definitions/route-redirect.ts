import { z } from 'zod';
import { objectField } from './fields.ts';
import type { RouteAuth } from './route-auth.ts';
import {
  parseTemplate,
  templateProblem,
  VARIABLES_TEXT,
  variableProblem,
  withWordsForVariables,
  type ValueTemplate,
} from './value-template.ts';

const MAX_LOCATION_CHARS = 2048;

/** The statuses of a redirect that a client follows by itself (RFC 9110 section 15.4). */
export const REDIRECT_STATUSES: readonly number[] = [301, 302, 303, 307, 308];

const statusError = `must be one of ${REDIRECT_STATUSES.join(', ')}`;

/** Its scheme and host, up to where a path, a query or a fragment begins. A constant, so that no request changes it. */
const ORIGIN =
  /^https?:\/\/(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?(?=[/?#]|$)/;

/** RFC 3986 section 2. */
const URI_TEXT = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*$/;

/** Whether the path of a location has a segment of two dots, which would lead out of what stands before it. */
export function hasParentSegment(location: string): boolean {
  return /^[^?#]*\/(?:\.|%2e){2}(?:[/?#]|$)/i.test(location);
}

/** Why a request could be sent to another place than the location says, or why it is no location. */
function locationProblem(location: string): string | undefined {
  const problem = templateProblem(location);
  if (problem !== undefined) return problem;
  const { constants, variables } = parseTemplate(location);
  if (!constants.every((text) => URI_TEXT.test(text))) {
    return 'must have only the characters of a URL, others percent-encoded';
  }
  if (hasParentSegment(withWordsForVariables(location))) {
    return 'must not have a segment of two dots in its path';
  }
  const [start = ''] = constants;
  if (start.startsWith('/')) {
    return start.startsWith('//')
      ? 'must not begin with two slashes: what follows is a host'
      : undefined;
  }
  const origin = ORIGIN.exec(start)?.[0];
  if (origin === undefined || !URL.canParse(origin)) {
    return 'must be a path that begins with a slash, or a URL of http or https with a host and without credentials';
  }
  return origin === start && variables.length > 0
    ? 'must have a slash after the host, else the first variable would be a part of the host'
    : undefined;
}

/** The redirect with which a route answers. */
export const redirectField = objectField({
  status: z
    .int({ error: statusError })
    .refine((status) => REDIRECT_STATUSES.includes(status), { error: statusError })
    .default(302)
    .meta({
      title: 'Status',
      description:
        '301 and 308: permanent, browsers keep it for long. 302 and 307: for now. 303: see another page, with GET. After 301 and 302 most clients send GET instead of POST; after 307 and 308 the same method and body.',
      examples: [308],
    }),
  location: z
    .string({ error: 'must be a string' })
    .max(MAX_LOCATION_CHARS, { error: `must be at most ${MAX_LOCATION_CHARS} characters` })
    .superRefine((location, context) => {
      const problem = locationProblem(location);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    })
    .meta({
      title: 'Location',
      description: `Where to: a URL, or a path of the same host. Its path, query and fragment may have the variables ${VARIABLES_TEXT}. Without a query it gets that of the request; one that ends with \`?\` gets none.`,
      examples: ['https://new.example.com/{path.rest}'],
    }),
});

export type RouteRedirect = z.output<typeof redirectField>;

/** A location in the parts that variables are written into in different ways. */
export interface LocationTemplate {
  readonly path: ValueTemplate;
  /** Without its question mark. undefined: that of the request. */
  readonly query: ValueTemplate | undefined;
  readonly fragment: ValueTemplate | undefined;
}

/** Names of claims may have any of these characters. */
const PARTS = /^((?:[^{?#]|\{[^{}]*\})*)(?:\?((?:[^{#]|\{[^{}]*\})*))?(?:#(.*))?$/s;

/** @throws Error if it is no location */
export function parseLocation(location: string): LocationTemplate {
  const problem = locationProblem(location);
  if (problem !== undefined) throw new Error(`a location ${problem}`);
  const [, path = '', query, fragment] = PARTS.exec(location) ?? [];
  return {
    path: parseTemplate(path),
    query: query === undefined ? undefined : parseTemplate(query),
    fragment: fragment === undefined ? undefined : parseTemplate(fragment),
  };
}

/** The fields of a route that its redirect depends on. */
export interface RedirectedRoute {
  readonly redirect?: RouteRedirect | null | undefined;
  readonly auth: RouteAuth;
}

/** Why the location of a route needs what its callers never have; undefined: it does not. */
export function redirectProblem({ redirect, auth }: RedirectedRoute): string | undefined {
  return redirect ? variableProblem(parseTemplate(redirect.location), auth, true) : undefined;
}
