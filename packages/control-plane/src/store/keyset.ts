import { sql, type RawBuilder } from 'kysely';

/** A row of an ordered list, after which the next page begins. */
export interface Keyset {
  /** What the list is ordered by, and its value in that row. */
  readonly key: RawBuilder<unknown>;
  readonly value: RawBuilder<unknown>;
  readonly isDescending: boolean;
  /** Rows with equal keys are ordered by id, which is in this column. */
  readonly idColumn: string;
  readonly id: string;
}

/** Whether a row comes after the one of the keyset. */
export function isAfter({ key, value, isDescending, idColumn, id }: Keyset): RawBuilder<boolean> {
  const beyond = isDescending ? sql`<` : sql`>`;
  return sql<boolean>`(${key} ${beyond} ${value} OR ${key} = ${value} AND ${sql.ref(idColumn)} > ${id})`;
}
