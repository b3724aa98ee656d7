import { sql } from 'kysely';
import type { Database } from '../../store/database.ts';
import { routeNotFound } from '../../routes/store/routes.ts';
import { serviceNotFound } from '../../services/store/services.ts';
import { changeOfRow, type PlannedRow, type RowKind, type Rows } from '../row-change.ts';
import { NAME_KEY } from './change-errors.ts';
import type { ChangeOrigin } from '../../changes/store/change-origin.ts';
import { changeRows } from './change-rows.ts';
import { TABLES } from './write-rows.ts';

const NOT_FOUND = { service: serviceNotFound, route: routeNotFound } as const;

/** The row of a call that changes one, as it is stored; after a deletion, as it was. */
export interface ChangedRow<Kind extends RowKind> {
  readonly row: Rows[Kind];
  readonly isNew: boolean;
}

/** What becomes of a row: its argument if nothing changes, null if it is deleted. @throws GatewayError */
type Decide<Kind extends RowKind, Current> = (current: Current) => PlannedRow<Rows[Kind]> | null;

/** Creates a row. @throws as `changeRows` */
export async function createRow<Kind extends RowKind>(
  db: Database,
  origin: ChangeOrigin,
  kind: Kind,
  row: PlannedRow<Rows[Kind]>,
): Promise<Rows[Kind]> {
  const { changes } = await changeRows(db, origin, {
    lock: 'configuration',
    read: () => Promise.resolve(null),
    plan: () => changeOfRow(kind, null, row),
  });
  return changes[0]?.after as Rows[Kind];
}

/** Changes the row with this id, or deletes it. @throws as `changeRows`, and what `decide` throws */
export async function changeRow<Kind extends RowKind>(
  db: Database,
  origin: ChangeOrigin,
  kind: Kind,
  id: string,
  decide: Decide<Kind, Rows[Kind]>,
): Promise<Rows[Kind]> {
  const { read, changes } = await changeRows(db, origin, {
    lock: 'configuration',
    async read(transaction) {
      const current = await lockRow(transaction, kind, sql`id = ${id}`);
      if (current === null) throw NOT_FOUND[kind]();
      return current;
    },
    plan: (current) => changeOfRow(kind, current, decide(current)),
  });
  return (changes[0]?.after as Rows[Kind] | null | undefined) ?? read;
}

/**
 * Creates the row of this name, or changes it. If another call creates it first, that row is changed.
 *
 * @throws as `changeRows`, and what `decide` throws
 */
export async function putRow<Kind extends RowKind>(
  db: Database,
  origin: ChangeOrigin,
  kind: Kind,
  { environment, name }: { readonly environment: string; readonly name: string },
  decide: Decide<Kind, Rows[Kind] | null>,
): Promise<ChangedRow<Kind>> {
  const { read, changes } = await changeRows(db, origin, {
    lock: 'configuration',
    contestedKey: NAME_KEY[kind],
    read: (transaction) =>
      lockRow(transaction, kind, sql`environment = ${environment} AND name = ${name}`),
    plan: (current) => changeOfRow(kind, current, decide(current)),
  });
  const row = (changes[0]?.after ?? read) as Rows[Kind];
  return { row, isNew: read === null };
}

/** Until the end of the transaction the row changes no more, and no route is added to a service. */
async function lockRow<Kind extends RowKind>(
  transaction: Database,
  kind: Kind,
  where: ReturnType<typeof sql>,
): Promise<Rows[Kind] | null> {
  const { rows } = await sql<{ row: Rows[Kind] }>`
    SELECT to_jsonb(stored) AS row FROM ${sql.table(TABLES[kind])} AS stored WHERE ${where} FOR UPDATE`.execute(
    transaction,
  );
  return rows[0]?.row ?? null;
}
