import { migrations } from '@gateway/migrations';
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** It was applied by the release that has it. */
const APPLIED: Migration = {
  up: () => Promise.reject(new Error('this release does not have the migration')),
};

/**
 * The migrations of this release, and those that a newer release has applied to the database: they only add to the schema
 * (docs/contribute/formats.md), so this release runs beside the newer one, and after a downgrade.
 *
 * @throws Error if the database has another migration, so that it is not one of this product, or of another branch of it
 */
export async function knownMigrations(db: Kysely<unknown>): Promise<Record<string, Migration>> {
  const known: Record<string, Migration> = { ...migrations };
  const newest = Object.keys(migrations).toSorted().at(-1) ?? '';
  for (const name of await appliedMigrations(db)) {
    if (Object.hasOwn(known, name)) continue;
    if (name < newest) {
      throw new Error(
        `the database has the migration ${name}, which this release does not have; set DATABASE_URL to a database of this gateway`,
      );
    }
    known[name] = APPLIED;
  }
  return known;
}

async function appliedMigrations(db: Kysely<unknown>): Promise<readonly string[]> {
  const table = await sql<{ found: boolean }>`
    SELECT to_regclass('kysely_migration') IS NOT NULL AS found
  `.execute(db);
  if (table.rows[0]?.found !== true) return [];
  const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration`.execute(db);
  return rows.map(({ name }) => name);
}
