import { isId, type IdPrefix } from '@gateway/shared/ids';
import { z } from 'zod';
import { environmentNameField } from '@gateway/shared/definitions/fields';
import { invalidField } from './input.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

const limitMessage = `must be a whole number from 1 to ${MAX_LIMIT}`;

/** A query parameter. A repeated one is a list, which is refused. */
export function textParameter() {
  return z.string({ error: 'must be given once' });
}

/** The query parameters of all lists. */
export const listParameters = {
  limit: textParameter()
    .regex(/^\d{1,3}$/, { error: limitMessage })
    .transform(Number)
    .pipe(z.number().min(1, { error: limitMessage }).max(MAX_LIMIT, { error: limitMessage }))
    .default(DEFAULT_LIMIT)
    // For callers it is a number, although a query has only strings.
    .meta({
      type: 'integer',
      pattern: undefined,
      minimum: 1,
      maximum: MAX_LIMIT,
      default: DEFAULT_LIMIT,
      description: 'The maximum number of items in a page.',
      examples: [DEFAULT_LIMIT],
    }),
  cursor: textParameter()
    .max(512, { error: 'is not a cursor of this list' })
    .optional()
    .meta({
      description:
        'Where the page begins: `next_cursor` of the page before. Without it the list begins.',
      examples: ['WyJyb3V0ZXMiLCJydGVfMDFrMm04djR6ajVyN2M5ZTFnM3A2dDh3MHgiXQ'],
    }),
};

/** A time in RFC 3339 format, parsed to ms since the Unix epoch. */
export const timeParameter = z.iso
  .datetime({ offset: true, error: 'must be an RFC 3339 time' })
  .transform((text) => Date.parse(text));

/** The query parameters `since` and `until`. */
export const periodParameters = {
  since: timeParameter.optional().meta({
    description: 'Only items from this time on.',
    examples: ['2026-03-01T00:00:00Z'],
  }),
  until: timeParameter.optional().meta({
    description: 'Only items before this time.',
    examples: ['2026-03-02T00:00:00Z'],
  }),
};

/**
 * A period that ends before it begins is a mistake: its list would be empty, as if there were nothing.
 * @throws GatewayError invalid_request
 */
export function refuseReversedPeriod(since: number | undefined, until: number | undefined): void {
  if (since !== undefined && until !== undefined && since > until) {
    throw invalidField('since', 'must not be after until');
  }
}

/** The query parameter `environment` of a list. */
export const environmentFilter = environmentNameField.optional().meta({
  description: 'Only items of this environment.',
  examples: ['production'],
});

/** The query parameter `search` of a list: a part of the name, in any case. */
export function searchParameter(kind: string, example: string) {
  return textParameter()
    .regex(/^[^\0]{0,63}$/u, { error: 'must be at most 63 characters without NUL' })
    .transform((text) => text.toLowerCase())
    .optional()
    .meta({
      description: `Only items whose name contains this text. Upper and lower case are the same. Empty: every ${kind}.`,
      examples: [example],
    });
}

/** As many as a page has. */
const MAX_IDS = MAX_LIMIT;
const idsMessage = `must be at most ${MAX_IDS} ids`;
/** Of all ids, with the commas. Names of environments are longer than ids, so fewer of them have room. */
const MAX_IDS_CHARS = MAX_IDS * 32;
const idsCharsMessage = `must be at most ${MAX_IDS} ids, of ${MAX_IDS_CHARS} characters in all`;

/**
 * A query parameter of several ids with commas between them. A text that is no such id finds nothing, so it is left out.
 * @param of such as `Only the tokens of these ids`
 */
export function idsParameter(isOne: (id: string) => boolean, of: string, example: string) {
  return textParameter()
    .max(MAX_IDS_CHARS, { error: idsCharsMessage })
    .transform((text) => text.split(',').filter(isOne))
    .pipe(z.array(z.string()).max(MAX_IDS, { error: idsMessage }))
    .optional()
    .meta({
      type: 'string',
      items: undefined,
      maxItems: undefined,
      description: `${of}, at most ${MAX_IDS}, with commas between them.`,
      examples: [example],
    });
}

/** The cursor key of a list that is ordered by id. */
export function idKey(prefix: IdPrefix) {
  return z.string().refine((text) => isId(prefix, text));
}

/**
 * Encodes the position where the next page begins. Callers treat it as opaque. `list` is the name of the list, so
 * that the cursor of another list is refused.
 */
export function encodeCursor(list: string, after: unknown): string {
  return Buffer.from(JSON.stringify([list, after])).toString('base64url');
}

/**
 * Decodes a cursor of `encodeCursor`.
 *
 * @throws GatewayError invalid_request if it is not a cursor of this list
 */
export function decodeCursor<T>(list: string, after: z.ZodType<T>, cursor: string): T {
  const parsed = z.tuple([z.literal(list), after]).safeParse(parseCursor(cursor));
  if (!parsed.success) throw invalidField('cursor', 'is not a cursor of this list');
  return parsed.data[1];
}

function parseCursor(cursor: string): unknown {
  const bytes = Buffer.from(cursor, 'base64url');
  // Buffer.from ignores invalid characters; such a cursor is refused.
  if (bytes.toString('base64url') !== cursor) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Cuts rows to a page. The caller reads one row more than `limit`, which shows whether another page follows. The
 * cursor is the key of the last row of the page, or null on the last page.
 *
 * @param isCut whether the caller left out rows because the page would be too large
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
