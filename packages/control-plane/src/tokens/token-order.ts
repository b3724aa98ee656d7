import { isId } from '@gateway/shared/ids';
import { choiceField } from '@gateway/shared/definitions/fields';
import { z } from 'zod';

/** What the list of tokens can be ordered by. A minus: the last or latest first. */
const ORDERS = [
  'name',
  '-name',
  'last_used_at',
  '-last_used_at',
  'expires_at',
  '-expires_at',
] as const;

/** An order of the list, and what it is by. */
export interface TokenOrder {
  readonly by: 'name' | 'last_used_at' | 'expires_at';
  readonly isDescending: boolean;
}

/** The query parameter `order`. */
export const tokenOrderParameter = choiceField(ORDERS)
  .optional()
  .meta({
    description:
      'The order of the list; a minus reverses it. A token that was never used comes before all used ones, and one that never expires after all that do. Default: oldest first.',
    examples: ['-last_used_at'],
  });

/** Reads a value of the parameter. */
export function tokenOrderOf(name: (typeof ORDERS)[number]): TokenOrder {
  const isDescending = name.startsWith('-');
  return { by: (isDescending ? name.slice(1) : name) as TokenOrder['by'], isDescending };
}

/** The last row of a page: the value that it is ordered by, as text, and its id. */
export interface TokenPosition {
  readonly key: string;
  readonly id: string;
}

/** The schema of the position in a cursor. */
export function tokenPositionSchema({ by }: TokenOrder) {
  const key = by === 'name' ? z.string().max(255) : z.string().regex(/^-?\d{1,40}(\.\d{1,40})?$/);
  return z
    .tuple([key, z.string().refine((text) => isId('tok', text))])
    .transform(([value, id]): TokenPosition => ({ key: value, id }));
}
