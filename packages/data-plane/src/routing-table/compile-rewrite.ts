import type { RouteRewrite } from '@gateway/shared/definitions/route-rewrite';
import { strippedProblem } from '@gateway/shared/definitions/route-rewrite-problems';
import type { RouteMatch } from '@gateway/shared/definitions/route-match';
import { parseTemplate, type ValueTemplate } from '@gateway/shared/definitions/value-template';
import { foldedName, HTTP_TOKEN } from '@gateway/shared/http/headers';
import { isReservedField } from '@gateway/shared/http/reserved-fields';

/** A field or a parameter that gets a value. */
export interface NamedTemplate {
  readonly name: string;
  readonly value: ValueTemplate;
}

/** What is changed of the fields of a message. */
export interface FieldRules {
  /** Folded names of fields that do not go on: those that are removed, and those that are set. */
  readonly dropped: ReadonlySet<string>;
  /** As the route names them. */
  readonly removed: readonly string[];
  readonly set: readonly NamedTemplate[];
  readonly added: readonly NamedTemplate[];
}

/** What is changed of the query. Names are decoded, and their order is that of the route. */
export interface QueryRules {
  readonly removed: ReadonlySet<string>;
  readonly set: readonly (NamedTemplate & {
    /** The name with escapes and an equals sign. */
    readonly encodedName: string;
  })[];
}

/** What is changed of the path, below that of the URL of the upstream. */
export interface PathRules {
  readonly stripPrefix: string | undefined;
  readonly addPrefix: ValueTemplate | undefined;
  /** Instead of both. */
  readonly path: ValueTemplate | undefined;
}

/** What a route changes of a request and of the response of the upstream. undefined: nothing of this. */
export interface CompiledRewrite {
  readonly path: PathRules | undefined;
  readonly query: QueryRules | undefined;
  /** A host, or `preserve` for that of the caller. */
  readonly host: string | undefined;
  readonly requestFields: FieldRules | undefined;
  readonly responseFields: FieldRules | undefined;
}

/**
 * Compiles the rewriting of a route; undefined if it changes nothing.
 *
 * @throws Error if the data plane could not carry it out
 */
export function compileRewrite(
  rewrite: RouteRewrite | null,
  match: readonly RouteMatch[],
): CompiledRewrite | undefined {
  if (rewrite === null) return undefined;
  const stripped = strippedProblem(rewrite.strip_prefix, match);
  if (stripped !== undefined) throw new Error(`rewrite.strip_prefix ${stripped}`);
  const { host } = rewrite;
  if (/[^!-~]/.test(host)) throw new Error('rewrite.host is no host');
  const compiled = {
    path: compilePath(rewrite),
    query: compileQuery(rewrite.query),
    host: host === 'upstream' ? undefined : host,
    requestFields: compileFields(rewrite.request_headers, 'request'),
    responseFields: compileFields(rewrite.response_headers, 'response'),
  };
  return Object.values(compiled).every((rule) => rule === undefined) ? undefined : compiled;
}

function compilePath({ strip_prefix, add_prefix, path }: RouteRewrite): PathRules | undefined {
  if (strip_prefix === null && add_prefix === null && path === null) return undefined;
  return {
    stripPrefix: strip_prefix ?? undefined,
    addPrefix: add_prefix === null ? undefined : parseTemplate(add_prefix),
    path: path === null ? undefined : parseTemplate(path),
  };
}

function compileQuery({ set, remove }: RouteRewrite['query']): QueryRules | undefined {
  if (set.length === 0 && remove.length === 0) return undefined;
  return {
    removed: new Set(remove),
    set: set.map(({ name, value }) => {
      const { constants, variables } = parseTemplate(value);
      const encoded = { constants: constants.map(encodeURIComponent), variables };
      return { name, encodedName: `${encodeURIComponent(name)}=`, value: encoded };
    }),
  };
}

function compileFields(
  { set, add, remove }: RouteRewrite['request_headers'],
  of: 'request' | 'response',
): FieldRules | undefined {
  if (set.length === 0 && add.length === 0 && remove.length === 0) return undefined;
  const compiled = ({ name, value }: { readonly name: string; readonly value: string }) => {
    if (!HTTP_TOKEN.test(name)) throw new Error('rewrite has a field that is no field');
    if (isReservedField(name, of)) throw new Error(`rewrite must not change the field ${name}`);
    if (/[^ -~]/.test(value)) throw new Error(`rewrite.${of}_headers has a value that is none`);
    return { name, value: parseTemplate(value) };
  };
  return {
    removed: remove,
    dropped: new Set([...remove, ...set.map(({ name }) => name)].map(foldedName)),
    set: set.map(compiled),
    added: add.map(compiled),
  };
}
