import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

/**
 * A caller may read a resource, edit it and send it back whole. A PATCH then has fields that the caller did not edit:
 * read-only fields, defaults, a credential without its secret. They are left out before the validation, so that they
 * neither change anything nor are refused. A caller that may not read gets no such help: if a field was left out, that would
 * confirm its guess.
 */

type Fields = Readonly<Record<string, unknown>>;

/**
 * The body of a PATCH without the fields that are as `shown`. The fields of `merged` are objects that a PATCH merges,
 * so their unchanged fields are left out too.
 */
export function dropUnchanged(body: unknown, shown: object, merged: ReadonlySet<string>): unknown {
  if (!isObject(body)) return body;
  const now = plain(shown);
  const changed = Object.entries(body).flatMap(([name, value]) => {
    const before = Object.hasOwn(now, name) ? now[name] : undefined;
    if (before === undefined) return [[name, value]];
    if (isDeepStrictEqual(value, before)) return [];
    if (!merged.has(name) || !isObject(before)) return [[name, value]];
    return [[name, dropUnchanged(value, before, NONE)]];
  });
  return Object.fromEntries(changed) as Fields;
}

/**
 * The body of a PUT without what no caller can set: read-only fields as they are shown, and secrets as they are shown,
 * without the secret. `paths` names them; the other fields are validated as they are.
 */
export function dropReadOnly(body: unknown, shown: object, paths: readonly string[]): unknown {
  if (!isObject(body)) return body;
  const now = plain(shown);
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => {
      const before = now[name] ?? null;
      if (before === null) return [[name, value]];
      if (paths.includes(name) && isDeepStrictEqual(value, before)) return [];
      const nested = paths.flatMap((path) =>
        path.startsWith(`${name}.`) ? [path.slice(name.length + 1)] : [],
      );
      const isNested = nested.length > 0 && isObject(before);
      return [[name, isNested ? dropReadOnly(value, before, nested) : value]];
    }),
  );
}

const NONE: ReadonlySet<string> = new Set();

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** As JSON has it: without undefined fields. */
function plain(shown: object): Fields {
  return JSON.parse(JSON.stringify(shown)) as Fields;
}

/** The fields of a response that no PATCH changes. One that is still in the body after `dropUnchanged` is changed. */
export function readOnlyShape<const Name extends string>(
  names: readonly Name[],
): Record<Name, z.ZodOptional<z.ZodNever>> {
  const field = z
    .never({ error: 'is read-only' })
    .optional()
    .meta({ not: undefined, readOnly: true, description: 'Read-only; accepted if unchanged.' });
  return Object.fromEntries(names.map((name) => [name, field])) as Record<Name, typeof field>;
}
