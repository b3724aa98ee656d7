import { z } from 'zod';
import { isId } from '@gateway/shared/ids';
import { choiceField, routeNameField } from '@gateway/shared/definitions/fields';

/** What the list of routes can be ordered by. A minus: the largest or newest first. */
const ORDERS = [
  'name',
  '-name',
  'updated_at',
  '-updated_at',
  'requests',
  '-requests',
  'error_rate',
  '-error_rate',
  'p95_ms',
  '-p95_ms',
] as const;

type OrderName = (typeof ORDERS)[number];

/** What the routes of a list can be compared by. */
export type RouteMeasure = 'requests' | 'error_rate' | 'p95_ms';

/** An order of the list, and what it is by. */
export interface RouteOrder {
  readonly by: 'name' | 'updated_at' | RouteMeasure;
  readonly isDescending: boolean;
}

/** The query parameter `order`. */
export const routeOrderParameter = choiceField(ORDERS)
  .optional()
  .meta({
    description:
      'The order of the list; a minus reverses it. `requests`, `error_rate` and `p95_ms` are those of the last hour, and ' +
      'need the scope `requests:read` too; `p95_ms` compares the 1000 routes with the most requests. Default: oldest first.',
    examples: ['-error_rate'],
  });

/** Reads a value of the parameter. */
export function routeOrderOf(name: OrderName): RouteOrder {
  const isDescending = name.startsWith('-');
  return { by: (isDescending ? name.slice(1) : name) as RouteOrder['by'], isDescending };
}

/** The measure of an order by traffic; undefined: it is by a field of the route. */
export function measureOf({ by }: RouteOrder): RouteMeasure | undefined {
  return by === 'name' || by === 'updated_at' ? undefined : by;
}

/** Where a page of an ordered list ends. */
export interface OrderPosition {
  /** The value of its last row, as text. */
  readonly key: string;
  readonly id: string;
  /** The end of the hour whose traffic is compared, ms since the Unix epoch. The pages of a list have the same. */
  readonly toMs: number;
}

/** The schema of the position in a cursor. */
export function positionSchema({ by }: RouteOrder) {
  const number = z.string().regex(/^-?\d{1,40}(\.\d{1,40})?$/);
  return z
    .tuple([
      by === 'name' ? routeNameField : number,
      z.string().refine((text) => isId('rte', text)),
      z.int().min(0).max(8.64e15),
    ])
    .transform(([key, id, toMs]): OrderPosition => ({ key, id, toMs }));
}
