import type { RouteAuth } from './route-auth.ts';
import { isBelow, type RouteMatch } from './route-match.ts';
import type { RouteRewrite } from './route-rewrite.ts';
import { parseTemplate, templateProblem, variableProblem } from './value-template.ts';

/** What the rewriting of a route depends on. */
export interface RewrittenRoute {
  readonly rewrite?: RouteRewrite | null;
  readonly match: readonly RouteMatch[];
  readonly auth: RouteAuth;
}

/** A field that contradicts another one of its route. */
interface RouteProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Why the rewriting of a route does not fit its ways and the authentication of its callers. */
export function* rewriteProblems({
  rewrite,
  match,
  auth,
}: RewrittenRoute): Generator<RouteProblem> {
  if (!rewrite) return;
  const stripped = strippedProblem(rewrite.strip_prefix, match);
  if (stripped !== undefined) yield { path: ['rewrite', 'strip_prefix'], message: stripped };
  for (const { path, text, isPath } of templatesOf(rewrite)) {
    // Another problem of the value is reported where it is defined.
    if (templateProblem(text) !== undefined) continue;
    const message = variableProblem(parseTemplate(text), auth, isPath);
    if (message !== undefined) yield { path: ['rewrite', ...path], message };
  }
}

/** Why the prefix is not one of every path by which requests reach the route. */
export function strippedProblem(
  prefix: string | null,
  match: readonly RouteMatch[],
): string | undefined {
  if (prefix === null) return undefined;
  if (match.length === 0) {
    return 'must be left out if the route has no `match`: /v1/proxy/{name} is never a part of the path';
  }
  const paths = match.flatMap((way) => (way.paths.length === 0 ? [{ prefix: '/' }] : way.paths));
  const texts = paths.map(
    (path) => ('exact' in path ? path.exact : undefined) ?? path.prefix ?? '/',
  );
  const other = texts.find((path) => !isBelow(path, prefix));
  return other === undefined
    ? undefined
    : `must be a prefix of every path in \`match\`, and ${prefix} is none of ${other}`;
}

interface Template {
  readonly path: readonly (string | number)[];
  readonly text: string;
  readonly isPath: boolean;
}

function* templatesOf(rewrite: RouteRewrite): Generator<Template> {
  for (const name of ['add_prefix', 'path'] as const) {
    const text = rewrite[name];
    if (text !== null) yield { path: [name], text, isPath: true };
  }
  const { query, request_headers, response_headers } = rewrite;
  const lists = [
    [['query', 'set'], query.set],
    [['request_headers', 'set'], request_headers.set],
    [['request_headers', 'add'], request_headers.add],
    [['response_headers', 'set'], response_headers.set],
    [['response_headers', 'add'], response_headers.add],
  ] as const;
  for (const [path, items] of lists) {
    for (const [index, { value }] of items.entries()) {
      yield { path: [...path, index, 'value'], text: value, isPath: false };
    }
  }
}
