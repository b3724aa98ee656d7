import {
  PostgresDialect,
  sql,
  type DatabaseIntrospector,
  type Kysely,
  type TableMetadata,
} from 'kysely';
import { DEFAULT_MIGRATION_LOCK_TABLE, DEFAULT_MIGRATION_TABLE } from 'kysely/migration';

/**
 * The dialect of migrations. The migrator asks several times for all tables, to find its own two; Kysely's dialect would
 * describe each column of each partition, which takes longer than all else of a start.
 */
export class MigrationDialect extends PostgresDialect {
  override createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return {
      getSchemas: () => super.createIntrospector(db).getSchemas(),
      getTables: () => migratorTables(db),
    };
  }
}

/** The tables of the migrator, without their columns. */
async function migratorTables(db: Kysely<unknown>): Promise<TableMetadata[]> {
  const { rows } = await sql<{ schema: string; name: string }>`
    SELECT schemaname AS schema, tablename AS name FROM pg_catalog.pg_tables
    WHERE tablename IN (${DEFAULT_MIGRATION_TABLE}, ${DEFAULT_MIGRATION_LOCK_TABLE})
    AND has_schema_privilege(schemaname, 'USAGE')
  `.execute(db);
  return rows.map((table) => ({ ...table, columns: [], isView: false, isForeign: false }));
}
