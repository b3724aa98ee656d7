import type { ChangeOrigin } from '../../changes/store/change-origin.ts';
import type { Service, ServiceSettings } from '../service.ts';
import type { Database } from '../../store/database.ts';
import { replacingViolation } from '../../store/failures.ts';
import { columnsOf } from '../../store/tables.ts';
import { environmentNotFound } from '../../environments/store/environments.ts';
import { putByName } from './put-row.ts';
import { changeConfiguration, startEvent } from '../../changes/store/record-change.ts';
import { serviceChange } from './services.ts';

/** The result of a PUT; `isNew`: the resource was created. */
export interface Put<Row> {
  readonly row: Row;
  readonly isNew: boolean;
}

/**
 * Creates the service of this name, with the id `newId`, or changes it to the settings that `decide` returns. If
 * `decide` returns its argument, nothing changes.
 *
 * @throws GatewayError environment_not_found, and what `decide` throws.
 */
export function putService(
  db: Database,
  at: { readonly environment: string; readonly name: string; readonly newId: string },
  origin: ChangeOrigin,
  decide: (current: Service | undefined) => ServiceSettings,
): Promise<Put<Service>> {
  const { environment, name, newId } = at;
  return replacingViolation('services_environment_fkey', environmentNotFound, () =>
    putByName('services_name_key', () =>
      changeConfiguration(db, origin, 'configuration', async (transaction) => {
        const current = await transaction
          .selectFrom('services')
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
        const columns = { ...columnsOf('services', wanted), updated_at: event.at };
        const row =
          current === undefined
            ? await transaction
                .insertInto('services')
                .values({ ...columns, id: newId, environment, created_at: event.at })
                .returningAll()
                .executeTakeFirstOrThrow()
            : await transaction
                .updateTable('services')
                .set({ ...columns, revision: current.revision + 1 })
                .where('id', '=', current.id)
                .returningAll()
                .executeTakeFirstOrThrow();
        const action = current === undefined ? 'service.created' : 'service.updated';
        const change = serviceChange(event, action, current ?? null, row);
        return { result: { row, isNew: current === undefined }, changes: [change] };
      }),
    ),
  );
}
