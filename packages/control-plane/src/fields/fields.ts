import type { IdPrefix } from '@gateway/shared/ids';
import { z } from 'zod';

/** A whole number within bounds, of JSON type number; a string of digits is refused. */
export function integerField(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** One of a few strings. */
export function choiceField<const T extends readonly string[]>(choices: T) {
  return z.enum(choices, { error: `must be one of ${choices.join(', ')}` });
}

/** A string that matches the pattern; the error says which characters it may have. */
export function stringField(pattern: RegExp, error: string) {
  return z.string({ error: 'must be a string' }).regex(pattern, { error });
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
  return z.strictObject(shape, { error: 'must be an object' });
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
export const idField = z.string({ error: 'must be a string' });

export const EXAMPLE_TIME = '2026-03-01T09:30:00.000Z';

/** An id for the examples of the document. */
export function exampleId(prefix: IdPrefix): string {
  return `${prefix}_01k2m8v4zj5r7c9e1g3p6t8w0x`;
}

/** A time in responses: RFC 3339, UTC. Accepts a Date, ms since the Unix epoch, or a string. */
export const timeView = z.preprocess((time) => {
  if (!(time instanceof Date) && typeof time !== 'number' && typeof time !== 'string') return time;
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}, z.iso.datetime());

/** A time in a response, with what it is the time of. */
export function timeField(description: string) {
  return timeView.meta({ description, examples: [EXAMPLE_TIME] });
}

/** An id in a response. */
export function idView(prefix: IdPrefix, description: string) {
  return z.string().meta({ description, examples: [exampleId(prefix)] });
}

/** The fields that the gateway sets on each service and route. */
export const rowFields = {
  revision: z.int().meta({
    description: 'The revision. It rises with each change and is a part of the ETag.',
    examples: [3],
  }),
  created_at: timeField('When it was created.'),
  updated_at: timeField('When it was last changed.'),
};

export const ROW_FIELDS = ['revision', 'created_at', 'updated_at'] as const;
