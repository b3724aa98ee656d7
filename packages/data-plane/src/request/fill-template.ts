import type { ValueTemplate, Variable } from '@gateway/shared/definitions/value-template';
import { escapeBytes } from '../text/escape-bytes.ts';
import { pathRest } from './caller-prefix.ts';
import type { RequestContext } from './context.ts';

/** Where a value stands. */
export type Place = 'path' | 'query' | 'field';

/** What variables are taken from. */
export type VariableSource = Pick<
  RequestContext,
  'id' | 'route' | 'token' | 'jwt' | 'clientIp' | 'target'
>;

/**
 * The value with its variables filled in; undefined if one of them has none. What comes from outside is percent-encoded,
 * so it never has a line break, a slash, or a separator of the place that it stands in. `{path.rest}` is a path as it was
 * sent.
 */
export function fillTemplate(
  { constants, variables }: ValueTemplate,
  source: VariableSource,
  place: Place,
): string | undefined {
  let text = constants[0] ?? '';
  for (let at = 0; at < variables.length; at += 1) {
    const value = valueOf(variables[at] as Variable, source, place);
    if (value === undefined) return undefined;
    text += value + (constants[at + 1] ?? '');
  }
  return text;
}

function valueOf(variable: Variable, source: VariableSource, place: Place): string | undefined {
  switch (variable.name) {
    case 'request.id':
      return source.id;
    case 'route.name':
      return source.route?.name;
    case 'token.id':
      return source.token?.id;
    case 'client.ip':
      return encoded(source.clientIp);
    case 'path.rest':
      return place === 'query' ? asQueryValue(pathRest(source.target)) : pathRest(source.target);
    case 'jwt.claims':
      return claimOf(source.jwt, variable.claim, place);
  }
}

/**
 * Only a claim that is known as the token has it: others could be equal although those of the tokens differ. None with a
 * control character, which an upstream that decodes the value could take for the end of a line. Servers leave out a segment
 * that is empty or a dot, so a path with it would be another one.
 */
function claimOf(jwt: RequestContext['jwt'], name: string, place: Place): string | undefined {
  if (jwt === undefined || !Object.hasOwn(jwt.claims, name) || jwt.inexactClaims.includes(name)) {
    return undefined;
  }
  const claim = jwt.claims[name];
  if (claim === undefined || claim === '' || Array.isArray(claim)) return undefined;
  if (typeof claim === 'string' && /\p{Cc}/u.test(claim)) return undefined;
  const isDots = place === 'path' && (claim === '.' || claim === '..');
  return isDots ? undefined : encoded(String(claim));
}

/** Leaves what RFC 3986 section 2.3 calls unreserved, and the colons of addresses. */
function encoded(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^A-Za-z0-9\-._~:]+/gu, (part) => escapeBytes(encodeURIComponent(part), /[!'()*]/g));
}

/** A raw path with escapes for those of its characters that servers read as separators of parameters, or as a space. */
function asQueryValue(path: string): string {
  return escapeBytes(path, /[&+;=]/g);
}
