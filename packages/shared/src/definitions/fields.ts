import { z } from 'zod';
import type { IdPrefix } from '../ids.ts';

/**
 * The kinds of fields of which routes and services are made. `.default` gives a field its default, and `.meta` what is
 * said of it: `description`; `title`, its label in forms; `x-unit`, its unit.
 */

/** A whole number within bounds, of JSON type number; a string of digits is refused. */
export function integerField(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** A number from 0 to 1. */
export function ratioField() {
  const error = 'must be a number from 0 to 1';
  return z.number({ error }).min(0, { error }).max(1, { error });
}

export function booleanField() {
  return z.boolean({ error: 'must be true or false' });
}

/**
 * One of a few strings.
 *
 * @param labels how forms show each of them; default: as it is
 */
export function choiceField<const T extends readonly string[]>(
  choices: T,
  labels?: Readonly<Record<T[number], string>>,
) {
  const field = z.enum(choices, { error: `must be one of ${choices.join(', ')}` });
  return labels === undefined ? field : field.meta({ 'x-labels': labels });
}

/** A string that matches the pattern; the error says which characters it may have. */
export function stringField(pattern: RegExp, error: string) {
  return z.string({ error: stringError }).regex(pattern, { error });
}

/** A field that is missing has no type to be wrong. */
function stringError({ input }: { readonly input?: unknown }): string {
  return input === undefined ? 'is required' : 'must be a string';
}

/** A list without repeated items. */
export function listField<T extends z.ZodType<string | number>>(
  item: T,
  bounds: { min: number; max: number },
) {
  const error = `must be a list of ${bounds.min} to ${bounds.max} items`;
  return z
    .array(item, { error })
    .min(bounds.min, { error })
    .max(bounds.max, { error })
    .refine((items) => new Set(items).size === items.length, {
      error: 'must not repeat an item',
    });
}

/** An object; unknown fields are refused. */
export function objectField<T extends z.core.$ZodLooseShape>(shape: T) {
  return z.strictObject(shape, {
    // Whoever parses says it of an unknown field.
    error: ({ code }) => (code === 'unrecognized_keys' ? undefined : 'must be an object'),
  });
}

export const environmentNameField = stringField(
  /^[a-z0-9][a-z0-9-]{0,62}$/,
  'must be 1 to 63 characters of a-z, 0-9 and -, and begin with a letter or digit',
).meta({ description: 'The name of an environment.', examples: ['production'] });

export const routeNameField = stringField(
  /^[a-z0-9][a-z0-9\-_.]{0,62}$/,
  'must be 1 to 63 characters of a-z, 0-9, -, _ and ., and begin with a letter or digit',
).meta({ description: 'The name of a route, as in `/v1/proxy/{name}`.', examples: ['charges'] });

/** The region of a data plane or an upstream. */
export const regionField = stringField(
  /^[a-z0-9-]{1,63}$/,
  'must be 1 to 63 characters of a-z, 0-9 and -',
).meta({ description: 'The name of a region.', examples: ['eu-west'] });

/** The name of a service or a token, which only people read. */
export const displayNameField = stringField(
  /^[A-Za-z0-9][A-Za-z0-9\-_. ]{0,62}$/,
  'must be 1 to 63 characters of letters, digits, -, _, . and space, and begin with a letter or digit',
);

/** An id in a body or a query. Only a lookup decides whether it exists. */
export const idField = z.string({ error: stringError });

/** An id for the examples of the document. */
export function exampleId(prefix: IdPrefix): string {
  return `${prefix}_01k2m8v4zj5r7c9e1g3p6t8w0x`;
}
