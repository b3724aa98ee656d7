import type { TokenReach } from '@gateway/shared/tokens/scopes';
import { sql } from 'kysely';
import { requireUnused } from '../../services/store/services.ts';
import type { Database } from '../../store/database.ts';
import type { RowChange, RowKind, Rows, WrittenChange } from '../row-change.ts';

/** The table of each kind. */
export const TABLES = { service: 'services', route: 'routes' } as const;
/** The largest number of rows that one statement writes. */
const CHUNK_ROWS = 200;
/** No name of a service or a route begins with it. */
const TEMPORARY_PREFIX = '~';

type Row = Rows[RowKind];

/**
 * Writes planned changes in an order in which every service exists that a route names, and no name is used twice: two rows
 * may exchange theirs.
 *
 * @param at when the rows change
 * @param reach whom an error may name routes to; undefined: the control plane itself
 * @returns the changes as they are stored
 * @throws GatewayError service_in_use
 */
export async function writeRows(
  transaction: Database,
  changes: readonly RowChange[],
  at: Date,
  reach: TokenReach | undefined,
): Promise<readonly WrittenChange[]> {
  const stored = new Map<string, Row>();
  const removed = { service: removedIds(changes, 'service'), route: removedIds(changes, 'route') };
  await removeRows(transaction, 'route', removed.route);
  for (const kind of ['service', 'route'] as const) {
    const written = changes.filter((change) => change.kind === kind && change.after !== null);
    // A single change frees no name for another one.
    if (changes.length > 1) {
      const renamed = written.flatMap(({ before, after }) =>
        before !== null && before.name !== after?.name ? [before.id] : [],
      );
      await freeNames(transaction, kind, [...renamed, ...removed[kind]]);
    }
    const [updates, creations] = [
      written.filter(({ before }) => before !== null),
      written.filter(({ before }) => before === null),
    ];
    const rows = [
      ...(await writeKind(transaction, kind, 'update', stamped(updates, at))),
      ...(await writeKind(transaction, kind, 'create', stamped(creations, at))),
    ];
    for (const row of rows) stored.set(row.id, row);
  }
  await requireUnused(transaction, removed.service, reach);
  await removeRows(transaction, 'service', removed.service);
  return changes.map((change) => {
    const after = change.after === null ? null : stored.get(change.after.id);
    return { ...change, after } as WrittenChange;
  });
}

function removedIds(changes: readonly RowChange[], kind: RowKind): readonly string[] {
  return changes.flatMap((change) =>
    change.kind === kind && change.before !== null && change.after === null
      ? [change.before.id]
      : [],
  );
}

/** The rows to write, with their revisions, which only rise, and their times. */
function stamped(changes: readonly RowChange[], at: Date): readonly object[] {
  return changes.map(({ after }) => ({
    ...after,
    revision: (after?.revision ?? 0) + 1,
    created_at: after?.created_at ?? at,
    updated_at: at,
  }));
}

async function removeRows(
  transaction: Database,
  kind: RowKind,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const table = sql.table(TABLES[kind]);
  await sql`DELETE FROM ${table} WHERE id = ANY(${ids}::text[])`.execute(transaction);
}

/** Frees the names of rows, so that new names can be set in any order. */
async function freeNames(
  transaction: Database,
  kind: RowKind,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const table = sql.table(TABLES[kind]);
  await sql`UPDATE ${table} SET name = ${TEMPORARY_PREFIX} || id WHERE id = ANY(${ids}::text[])`.execute(
    transaction,
  );
}

/**
 * Creates or updates rows with exactly these values, and returns the stored rows. A column that did not exist when a row
 * of the history was stored and is no setting gets its default, or keeps its value.
 */
async function writeKind(
  transaction: Database,
  kind: RowKind,
  how: 'create' | 'update',
  rows: readonly object[],
): Promise<readonly Row[]> {
  const stored: Row[] = [];
  for (const chunk of await sameColumns(transaction, kind, rows)) {
    stored.push(...(await writeChunk(transaction, kind, how, chunk)));
  }
  return stored;
}

interface Chunk {
  readonly columns: readonly string[];
  readonly rows: readonly object[];
}

/** Groups the rows by the columns that they have, without columns that no longer exist. */
async function sameColumns(
  transaction: Database,
  kind: RowKind,
  rows: readonly object[],
): Promise<readonly Chunk[]> {
  if (rows.length === 0) return [];
  const table = sql.table(TABLES[kind]);
  const { rows: columns } = await sql<{ name: string }>`
    SELECT jsonb_object_keys(to_jsonb(jsonb_populate_record(null::${table}, '{}'))) AS name
  `.execute(transaction);
  const known = columns.map(({ name }) => name);
  const groups = Map.groupBy(rows, (row) => known.filter((name) => name in row).join());
  return [...groups].flatMap(([names, group]) =>
    chunksOf(group).map((chunk) => ({ columns: names.split(','), rows: chunk })),
  );
}

async function writeChunk(
  transaction: Database,
  kind: RowKind,
  how: 'create' | 'update',
  { columns, rows }: Chunk,
): Promise<readonly Row[]> {
  const table = sql.table(TABLES[kind]);
  const given = sql`jsonb_populate_recordset(null::${table}, ${JSON.stringify(rows)}::jsonb)`;
  const list = sql.join(columns.map((name) => sql.ref(name)));
  const values = sql.join(columns.map((name) => sql.ref(`given.${name}`)));
  const statement =
    how === 'create'
      ? sql<{ row: Row }>`
          INSERT INTO ${table} AS stored (${list}) SELECT ${values} FROM ${given} AS given
          RETURNING to_jsonb(stored) AS row`
      : sql<{ row: Row }>`
          UPDATE ${table} AS stored SET (${list}) = ROW(${values}) FROM ${given} AS given
          WHERE stored.id = given.id RETURNING to_jsonb(stored) AS row`;
  return (await statement.execute(transaction)).rows.map(({ row }) => row);
}

function chunksOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  const count = Math.ceil(items.length / CHUNK_ROWS);
  return Array.from({ length: count }, (_, index) =>
    items.slice(index * CHUNK_ROWS, (index + 1) * CHUNK_ROWS),
  );
}
