import type { RouteAuth } from './route-auth.ts';

/* Values of fields that have variables of the request in them, such as `/v2/{path.rest}`. */

const NAMES = ['request.id', 'route.name', 'token.id', 'client.ip', 'path.rest'] as const;
const CLAIMS = 'jwt.claims.';

/** A variable of a request. */
export type Variable =
  | { readonly name: (typeof NAMES)[number] }
  | { readonly name: 'jwt.claims'; readonly claim: string };

/** A value in its parts: the first constant, the first variable, the second constant, and so on to the last constant. */
export interface ValueTemplate {
  readonly constants: readonly string[];
  readonly variables: readonly Variable[];
}

/** All variables, as errors and documents list them. */
export const VARIABLES_TEXT = [...NAMES, `${CLAIMS}NAME`].map((name) => `{${name}}`).join(', ');

const EXPRESSION = /\{([^{}]*)\}/g;

/** Why a value is no template: it has a brace that belongs to no variable. */
export function templateProblem(text: string): string | undefined {
  for (const [expression, name = ''] of text.matchAll(EXPRESSION)) {
    if (variableNamed(name) !== undefined) continue;
    return `must not have ${expression}: the variables are ${VARIABLES_TEXT}`;
  }
  return /[{}]/.test(text.replaceAll(EXPRESSION, ''))
    ? `must not have a brace that is not of one of the variables ${VARIABLES_TEXT}`
    : undefined;
}

/** The text with one word in place of each variable. */
export function withWordsForVariables(text: string): string {
  return text.replaceAll(EXPRESSION, 'x');
}

/** @throws Error if it is no template; see `templateProblem` */
export function parseTemplate(text: string): ValueTemplate {
  const problem = templateProblem(text);
  if (problem !== undefined) throw new Error(`a value ${problem}`);
  const constants: string[] = [];
  const variables: Variable[] = [];
  text.split(EXPRESSION).forEach((part, index) => {
    const variable = index % 2 === 0 ? undefined : variableNamed(part);
    if (variable === undefined) constants.push(part);
    else variables.push(variable);
  });
  return { constants, variables };
}

function variableNamed(name: string): Variable | undefined {
  if (name.startsWith(CLAIMS) && name.length > CLAIMS.length) {
    return { name: 'jwt.claims', claim: name.slice(CLAIMS.length) };
  }
  const known = NAMES.find((one) => one === name);
  return known === undefined ? undefined : { name: known };
}

/**
 * Why a route whose callers authenticate so cannot use the value: its variables name claims that need not be there, or
 * what a path needs is never there.
 *
 * @param isPath without the values of all variables there is no path; a field or a parameter is then left out
 */
export function variableProblem(
  { variables }: ValueTemplate,
  auth: RouteAuth,
  isPath: boolean,
): string | undefined {
  for (const variable of variables) {
    if (variable.name === 'jwt.claims' && !requiresClaim(auth, variable.claim)) {
      return `must not have {${CLAIMS}${variable.claim}}: auth.required_claims of the route does not name this claim`;
    }
    const hasToken = auth.type === 'token' || auth.type === 'api_key';
    if (variable.name === 'token.id' && isPath && !hasToken) {
      return `must not have {token.id}: callers of a route with auth.type ${auth.type} have no token`;
    }
  }
  return undefined;
}

function requiresClaim(auth: RouteAuth, claim: string): boolean {
  if (auth.type !== 'jwt') return false;
  const { required_claims: claims } = auth;
  return Array.isArray(claims) ? claims.includes(claim) : Object.hasOwn(claims, claim);
}
