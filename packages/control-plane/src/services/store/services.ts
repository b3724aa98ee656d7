import { sql } from 'kysely';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { ChangeOrigin } from '../../changes/store/change-origin.ts';
import type { AuditAction } from '../../audit/audit-event.ts';
import { auditedService, type Service, type ServiceSettings } from '../service.ts';
import { MAX_PAGE_BYTES, readWithinBytes, type BoundedRows } from '../../store/bounded-rows.ts';
import type { Database } from '../../store/database.ts';
import { environmentNotFound } from '../../environments/store/environments.ts';
import { replacingViolation } from '../../store/failures.ts';
import { columnsOf } from '../../store/tables.ts';
import {
  changeConfiguration,
  startEvent,
  type ChangeEvent,
  type RecordedChange,
} from '../../changes/store/record-change.ts';

/** The largest number of routes that the error names. */
const SHOWN_ROUTES = 10;

export interface ServiceFilter {
  /** Undefined: all of them. */
  readonly environments: readonly string[] | undefined;
  readonly environment?: string | undefined;
  readonly name?: string | undefined;
  /** The last id of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Services by id, which is the order of creation. */
export function listServices(db: Database, filter: ServiceFilter): Promise<BoundedRows<Service>> {
  const { environments, environment, name, after } = filter;
  let query = db.selectFrom('services').selectAll();
  if (environments !== undefined) query = query.where('environment', 'in', environments);
  if (environment !== undefined) query = query.where('environment', '=', environment);
  if (name !== undefined) query = query.where('name', '=', name);
  if (after !== undefined) query = query.where('id', '>', after);
  return readWithinBytes(db, sql`${query.orderBy('id').limit(filter.limit)}`, {
    order: sql`id`,
    bytes: sql`octet_length(upstreams::text) + coalesce(octet_length(tls::text), 0)`,
    maxBytes: MAX_PAGE_BYTES,
  });
}

export function findService(db: Database, id: string): Promise<Service | undefined> {
  return db.selectFrom('services').selectAll().where('id', '=', id).executeTakeFirst();
}

/** The services with these ids, by id. */
export async function findServices(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Service>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('services').selectAll().where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

export type NewService = ServiceSettings & { readonly id: string; readonly environment: string };

/** @throws GatewayError name_conflict, environment_not_found */
export function createService(
  db: Database,
  service: NewService,
  origin: ChangeOrigin,
): Promise<Service> {
  return replacingViolation('services_environment_fkey', environmentNotFound, () =>
    replacingViolation('services_name_key', serviceNameTaken, () =>
      changeConfiguration(db, origin, 'configuration', async (transaction) => {
        const event = startEvent(origin);
        const row = await transaction
          .insertInto('services')
          .values(columnsOf('services', { ...service, created_at: event.at, updated_at: event.at }))
          .returningAll()
          .executeTakeFirstOrThrow();
        return { result: row, changes: [serviceChange(event, 'service.created', null, row)] };
      }),
    ),
  );
}

/**
 * Changes a service to the settings that `decide` returns. The row is locked meanwhile. If `decide` returns
 * its argument, nothing changes, not even the revision.
 *
 * @throws GatewayError service_not_found, name_conflict, and what `decide` throws.
 */
export function updateService(
  db: Database,
  id: string,
  origin: ChangeOrigin,
  decide: (current: Service) => ServiceSettings,
): Promise<Service> {
  return replacingViolation('services_name_key', serviceNameTaken, () =>
    changeConfiguration(db, origin, 'configuration', async (transaction) => {
      const current = await lockService(transaction, id);
      const wanted = decide(current);
      if (wanted === current) return { result: current, changes: [] };
      const event = startEvent(origin, current);
      const row = await transaction
        .updateTable('services')
        .set({
          ...columnsOf('services', wanted),
          revision: current.revision + 1,
          updated_at: event.at,
        })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
      return { result: row, changes: [serviceChange(event, 'service.updated', current, row)] };
    }),
  );
}

/**
 * Deletes a service and returns it.
 *
 * @param routes the names of routes that the caller covers; undefined: all
 * @throws GatewayError service_not_found, service_in_use, and what `check` throws.
 */
export function deleteService(
  db: Database,
  id: string,
  origin: ChangeOrigin,
  routes: readonly string[] | undefined,
  check: (current: Service) => void,
): Promise<Service> {
  return changeConfiguration(db, origin, 'configuration', async (transaction) => {
    const current = await lockService(transaction, id);
    check(current);
    // The lock on the service keeps routes from being added to it until this transaction ends.
    await requireUnused(transaction, id, routes);
    await transaction.deleteFrom('services').where('id', '=', id).execute();
    const event = startEvent(origin, current);
    return { result: current, changes: [serviceChange(event, 'service.deleted', current, null)] };
  });
}

/** The change of a service, for the outbox and the audit trail. */
export function serviceChange(
  event: ChangeEvent,
  action: AuditAction,
  before: Service | null,
  after: Service | null,
): RecordedChange {
  const { id, environment } = (after ?? before) as Service;
  return {
    action,
    resourceId: id,
    environments: [environment],
    published: { kind: 'service', before, after },
    audited: {
      event,
      before: before && auditedService(before),
      after: after && auditedService(after),
    },
  };
}

async function lockService(transaction: Database, id: string): Promise<Service> {
  const row = await transaction
    .selectFrom('services')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) throw serviceNotFound();
  return row;
}

export function serviceNotFound(): GatewayError {
  return new GatewayError('service_not_found', 'There is no service with this id.');
}

/** @throws GatewayError service_in_use, which names only routes that the caller covers */
async function requireUnused(
  transaction: Database,
  id: string,
  covered: readonly string[] | undefined,
): Promise<void> {
  const using = transaction
    .selectFrom('route_services')
    .innerJoin('routes', 'routes.id', 'route_services.route_id')
    .where('route_services.service_id', '=', id);
  const { routes } = await using
    .select(sql<number>`count(DISTINCT routes.id)::int`.as('routes'))
    .executeTakeFirstOrThrow();
  if (routes === 0) return;
  const named =
    covered === undefined
      ? using
      : using.where(sql<boolean>`routes.name = ANY(${[...covered]}::text[])`);
  const shown = await named
    .select('routes.name')
    .distinct()
    .orderBy('routes.name')
    .limit(SHOWN_ROUTES)
    .execute();
  throw inUse(
    shown.map(({ name }) => name),
    routes,
  );
}

function inUse(names: readonly string[], routes: number): GatewayError {
  const more = routes - names.length;
  const rest = names.length === 0 ? `${more} that the token does not cover` : `${more} more`;
  const all = more === 0 ? names : [...names, rest];
  return new GatewayError('service_in_use', `These routes name the service: ${all.join(', ')}.`);
}

export function serviceNameTaken(): GatewayError {
  return new GatewayError('name_conflict', 'A service with this name exists in the environment.', {
    details: [{ path: 'name', message: 'is taken' }],
  });
}
