import { z } from 'zod';

/** A whole number within bounds, of JSON type number; a text of digits is refused. */
export function integerField(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** One of a few texts. */
export function choiceField<const T extends readonly string[]>(choices: T) {
  return z.enum(choices, { error: `must be one of ${choices.join(', ')}` });
}

/** A text that matches; the message says what it is made of. */
export function textField(pattern: RegExp, error: string) {
  return z.string({ error: 'must be a text' }).regex(pattern, { error });
}

/** A list without repetition. */
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
      error: 'must not name an item twice',
    });
}

/** An object of which no field is unknown. */
export function objectField<T extends z.core.$ZodLooseShape>(shape: T) {
  return z.strictObject(shape, { error: 'must be an object' });
}

export const environmentNameField = textField(
  /^[a-z0-9][a-z0-9-]{0,62}$/,
  'must be 1 to 63 characters of a-z, 0-9 and -, and begin with a letter or digit',
);

export const routeNameField = textField(
  /^[a-z0-9][a-z0-9\-_.]{0,62}$/,
  'must be 1 to 63 characters of a-z, 0-9, -, _ and ., and begin with a letter or digit',
);

/** Where a data plane or an upstream stands. */
export const regionField = textField(
  /^[a-z0-9-]{1,63}$/,
  'must be 1 to 63 characters of a-z, 0-9 and -',
);

/** Names of what only people read: services and tokens. */
export const displayNameField = textField(
  /^[A-Za-z0-9][A-Za-z0-9\-_. ]{0,62}$/,
  'must be 1 to 63 characters of letters, digits, -, _, . and space, and begin with a letter or digit',
);

/** An id of ours in a body or a query. Whether it names anything is decided by looking it up. */
export const idField = z.string({ error: 'must be a text' });

/** A time in the views: RFC 3339, UTC. */
export const timeView = z.iso.datetime();
