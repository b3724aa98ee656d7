import type { ChangeOrigin } from '../../changes/store/change-origin.ts';
import type { Route, RouteSettings } from '../route.ts';
import type { Database } from '../../store/database.ts';
import { columnsOf } from '../../store/tables.ts';
import { putByName } from '../../services/store/put-row.ts';
import type { Put } from '../../services/store/put-service.ts';
import { changeConfiguration, startEvent } from '../../changes/store/record-change.ts';
import { mapViolations, routeChange } from './routes.ts';

/**
 * Creates the route of this name, with the id `newId`, or changes it to the settings that `decide` returns. If `decide`
 * returns its argument, nothing changes.
 *
 * @throws GatewayError service_not_found, and what `decide` throws.
 */
export function putRoute(
  db: Database,
  at: { readonly environment: string; readonly name: string; readonly newId: string },
  origin: ChangeOrigin,
  decide: (current: Route | undefined) => RouteSettings,
): Promise<Put<Route>> {
  const { environment, name, newId } = at;
  return mapViolations(() =>
    putByName('routes_name_key', () =>
      changeConfiguration(db, origin, 'configuration', async (transaction) => {
        const current = await transaction
          .selectFrom('routes')
          .selectAll()
          .where('environment', '=', environment)
          .where('name', '=', name)
          .forUpdate()
          .executeTakeFirst();
        const wanted = decide(current);
        if (current !== undefined && wanted === current) {
          return { result: { row: current, isNew: false }, changes: [] };
        }
        const event = startEvent(origin, current);
        const columns = { ...columnsOf('routes', wanted), updated_at: event.at };
        const row =
          current === undefined
            ? await transaction
                .insertInto('routes')
                .values({ ...columns, id: newId, environment, created_at: event.at })
                .returningAll()
                .executeTakeFirstOrThrow()
            : await transaction
                .updateTable('routes')
                .set({ ...columns, revision: current.revision + 1 })
                .where('id', '=', current.id)
                .returningAll()
                .executeTakeFirstOrThrow();
        const action = current === undefined ? 'route.created' : 'route.updated';
        const change = routeChange(event, action, current ?? null, row);
        return { result: { row, isNew: current === undefined }, changes: [change] };
      }),
    ),
  );
}
