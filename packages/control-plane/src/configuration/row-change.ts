import { isDeepStrictEqual } from 'node:util';
import type { RowFields } from '../fields/response-fields.ts';
import { settingsOf, type Route, type RouteSettings } from '../routes/route.ts';
import type { Service, ServiceSettings } from '../services/service.ts';
import { storedRow } from './config-history.ts';

/** The rows of the two kinds of resource that plans change. */
export interface Rows {
  readonly service: Service;
  readonly route: Route;
}

export type RowKind = keyof Rows;

/**
 * A row as a plan wants it. The writer sets its times and raises `revision`, which is the highest one that the resource ever
 * had; absent: it is new.
 */
export type PlannedRow<Row extends Rows[RowKind]> = Omit<Row, keyof RowFields> &
  Partial<Pick<Row, 'revision' | 'created_at'>>;

interface KindChange<Kind extends RowKind, After> {
  readonly kind: Kind;
  readonly before: Rows[Kind] | null;
  readonly after: After | null;
}

/** A row before a change and after it, as it is planned. null: it does not exist. */
export type RowChange = { [Kind in RowKind]: KindChange<Kind, PlannedRow<Rows[Kind]>> }[RowKind];

/** A change as it is stored. */
export type WrittenChange = { [Kind in RowKind]: KindChange<Kind, Rows[Kind]> }[RowKind];

/** The change of one row; none if `after` is `before`. */
export function changeOfRow<Kind extends RowKind>(
  kind: Kind,
  before: Rows[Kind] | null,
  after: PlannedRow<Rows[Kind]> | null,
): readonly RowChange[] {
  return before === after ? [] : [{ kind, before, after } as unknown as RowChange];
}

/** Which resource a row is. */
export interface RowIdentity {
  readonly id: string;
  readonly environment: string;
}

/** The row of a route with these settings; `before` itself if it has them already. */
export function routeWith(
  settings: RouteSettings,
  { id, environment }: RowIdentity,
  before: Route | null,
): PlannedRow<Route> {
  if (before !== null && isDeepStrictEqual(settingsOf(before), settings)) return before;
  return { ...before, ...settings, id, environment };
}

/** As `routeWith`, for a service. A row may be older than some settings. */
export function serviceWith(
  settings: ServiceSettings,
  { id, environment }: RowIdentity,
  before: Service | null,
): PlannedRow<Service> {
  const after = { ...before, ...settings, id, environment };
  const isSame = (row: Service) =>
    isDeepStrictEqual(storedRow('service', after), storedRow('service', row));
  return before !== null && isSame(before) ? before : after;
}
