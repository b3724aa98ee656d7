import { sql } from 'kysely';
import type { StoredRow } from '../config-history.ts';
import type { Database } from '../../store/database.ts';

export type RestoredKind = 'service' | 'route';

const TABLES = { service: 'services', route: 'routes' } as const;
/** The largest number of rows that one statement writes. */
const CHUNK_ROWS = 200;
/** No name of a service or a route begins with it. */
const TEMPORARY_PREFIX = '~';

/** Deletes the rows with these ids. */
export async function removeRows(
  transaction: Database,
  kind: RestoredKind,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const table = sql.table(TABLES[kind]);
  await sql`DELETE FROM ${table} WHERE id = ANY(${ids}::text[])`.execute(transaction);
}

/** Frees the names of rows, so that new names can be set in any order: two rows may swap theirs. */
export async function setTemporaryNames(
  transaction: Database,
  kind: RestoredKind,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const table = sql.table(TABLES[kind]);
  await sql`UPDATE ${table} SET name = ${TEMPORARY_PREFIX} || id WHERE id = ANY(${ids}::text[])`.execute(
    transaction,
  );
}

/**
 * Creates or updates rows with exactly these values, and returns the stored rows. A column that did not
 * exist when the row was stored and is no setting gets its default, or keeps its value.
 */
export async function writeRows(
  transaction: Database,
  kind: RestoredKind,
  how: 'create' | 'update',
  rows: readonly StoredRow[],
): Promise<readonly StoredRow[]> {
  const stored: StoredRow[] = [];
  for (const chunk of await sameColumns(transaction, kind, rows)) {
    stored.push(...(await writeChunk(transaction, kind, how, chunk)));
  }
  return stored;
}

interface Chunk {
  readonly columns: readonly string[];
  readonly rows: readonly StoredRow[];
}

/** Groups the rows by the columns that they have, without columns that no longer exist. */
async function sameColumns(
  transaction: Database,
  kind: RestoredKind,
  rows: readonly StoredRow[],
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
  kind: RestoredKind,
  how: 'create' | 'update',
  { columns, rows }: Chunk,
): Promise<readonly StoredRow[]> {
  const table = sql.table(TABLES[kind]);
  const given = sql`jsonb_populate_recordset(null::${table}, ${JSON.stringify(rows)}::jsonb)`;
  const list = sql.join(columns.map((name) => sql.ref(name)));
  const values = sql.join(columns.map((name) => sql.ref(`given.${name}`)));
  const statement =
    how === 'create'
      ? sql<{ row: StoredRow }>`
          INSERT INTO ${table} AS stored (${list}) SELECT ${values} FROM ${given} AS given
          RETURNING to_jsonb(stored) AS row`
      : sql<{ row: StoredRow }>`
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
