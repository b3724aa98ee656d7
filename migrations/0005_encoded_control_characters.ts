import type { Kysely } from 'kysely';

/** Routes may accept encoded tabs and line breaks in a path. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('routes')
    .addColumn('allow_encoded_control_characters', 'boolean', (column) =>
      column.notNull().defaultTo(false),
    )
    .execute();
}
