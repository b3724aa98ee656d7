import { isId, type IdPrefix } from '@gateway/shared/ids';
import { z } from 'zod';
import { invalidField } from './input.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

const limitMessage = `must be a whole number from 1 to ${MAX_LIMIT}`;

/** A query parameter is one text; given twice it is a list, which no parameter is. */
export function textParameter() {
  return z.string({ error: 'must be given once' });
}

/** The query parameters that every list takes. */
export const listParameters = {
  limit: textParameter()
    .regex(/^\d{1,3}$/, { error: limitMessage })
    .transform(Number)
    .pipe(z.number().min(1, { error: limitMessage }).max(MAX_LIMIT, { error: limitMessage }))
    .default(DEFAULT_LIMIT)
    // As a caller sees it: a number, though it comes as text.
    .meta({
      type: 'integer',
      pattern: undefined,
      minimum: 1,
      maximum: MAX_LIMIT,
      description: `The size of a page; ${DEFAULT_LIMIT} where it is left out.`,
    }),
  cursor: textParameter().max(512, { error: 'is not a cursor of this list' }).optional(),
};

/** A time as in RFC 3339; parsed to ms since the Unix epoch. */
export const timeParameter = z.iso
  .datetime({ offset: true, error: 'must be a time as in RFC 3339' })
  .transform((text) => Date.parse(text));

/** The key of a list that is in the order of its ids. Nothing else reaches the database. */
export function idKey(prefix: IdPrefix) {
  return z.string().refine((text) => isId(prefix, text));
}

/**
 * Writes the position after which a list goes on: opaque to callers. `list` names the list, so that
 * a cursor of another one is refused.
 */
export function encodeCursor(list: string, after: unknown): string {
  return Buffer.from(JSON.stringify([list, after])).toString('base64url');
}

/**
 * Reads a cursor that `encodeCursor` made.
 *
 * @throws GatewayError invalid_request where it is none of this list.
 */
export function decodeCursor<T>(list: string, after: z.ZodType<T>, cursor: string): T {
  const parsed = z.tuple([z.literal(list), after]).safeParse(parseCursor(cursor));
  if (!parsed.success) throw invalidField('cursor', 'is not a cursor of this list');
  return parsed.data[1];
}

function parseCursor(cursor: string): unknown {
  const bytes = Buffer.from(cursor, 'base64url');
  // What is no base64url would be passed over, so that a cursor could be followed by anything.
  if (bytes.toString('base64url') !== cursor) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Cuts rows, of which one more than `limit` was read, to a page: the cursor is the key of its last
 * row, or null where nothing follows. `isCut`: rows were left out before that, as they weigh too much.
 */
export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
  list: string,
  keyOf: (row: Row) => unknown,
  isCut = false,
): { readonly rows: readonly Row[]; readonly nextCursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  if (rows.length <= limit && !isCut) return { rows, nextCursor: null };
  return { rows: shown, nextCursor: last === undefined ? null : encodeCursor(list, keyOf(last)) };
}
