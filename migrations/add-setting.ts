import { columnOf } from '@gateway/shared/definitions/derived-schemas';
import { storedRouteFields } from '@gateway/shared/definitions/route';
import { serviceFields } from '@gateway/shared/definitions/service';
import { sql, type Kysely } from 'kysely';

const SETTINGS = { routes: storedRouteFields, services: serviceFields };

type Fields = Readonly<Record<string, Parameters<typeof columnOf>[0]>>;

/**
 * A migration that adds the column of a setting as it is defined. The rows that exist get the default of the definition.
 * A release without the column runs on: what it creates gets the default too.
 */
export function addSetting<Table extends keyof typeof SETTINGS>(
  table: Table,
  name: keyof (typeof SETTINGS)[Table] & string,
): (db: Kysely<unknown>) => Promise<void> {
  return async (db) => {
    const fields: Fields = SETTINGS[table];
    const field = fields[name];
    if (field === undefined) throw new Error(`${table} have no setting ${name}`);
    const { type, isNullable, usual } = columnOf(field);
    const nullable = isNullable ? sql`` : sql`NOT NULL`;
    await sql`
      ALTER TABLE ${sql.table(table)}
      ADD COLUMN ${sql.ref(name)} ${sql.raw(type)} ${nullable} DEFAULT ${literal(usual, type)}
    `.execute(db);
  };
}

/** A default cannot be a parameter. */
function literal(usual: unknown, type: string) {
  if (type === 'jsonb' && usual !== null) return sql`${sql.lit(JSON.stringify(usual))}::jsonb`;
  if (!Array.isArray(usual)) return sql.lit(usual);
  return sql`ARRAY[${sql.join(usual.map((item) => sql.lit(item)))}]::text[]`;
}
