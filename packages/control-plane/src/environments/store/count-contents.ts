import { sql } from 'kysely';
import type { Database } from '../../store/database.ts';

/** What an environment has. */
export interface EnvironmentCounts {
  readonly services: number;
  readonly routes: number;
  /** Of its own: those of all environments are not counted. */
  readonly tokens: number;
}

/** What each of the environments has, by name. */
export async function countContents(
  db: Database,
  names: readonly string[],
): Promise<ReadonlyMap<string, EnvironmentCounts>> {
  if (names.length === 0) return new Map();
  const { rows } = await sql<EnvironmentCounts & { name: string }>`
    SELECT asked.name,
      (SELECT count(*)::int FROM services WHERE environment = asked.name) AS services,
      (SELECT count(*)::int FROM routes WHERE environment = asked.name) AS routes,
      (SELECT count(*)::int FROM tokens
        WHERE revoked_at IS NULL AND environments && ARRAY[asked.name]::text[]) AS tokens
    FROM unnest(${[...names]}::text[]) AS asked (name)
  `.execute(db);
  return new Map(rows.map(({ name, ...counts }) => [name, counts]));
}
