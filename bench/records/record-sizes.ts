import type pg from 'pg';

interface Part {
  readonly name: string;
  readonly bytes: number;
}

/** Prints how many bytes of disk a record takes: in the table, and in each index. */
export async function printSizes(client: pg.Client, print: (line: string) => void): Promise<void> {
  const { rows: counted } = await client.query<{ count: number }>(
    'SELECT count(*)::float8 AS count FROM request_records',
  );
  const count = counted[0]?.count ?? 0;
  const { rows: parts } = await client.query<Part>(`
    SELECT coalesce(parent_index.relname, 'table') AS name, sum(bytes)::float8 AS bytes
    FROM (
      SELECT NULL::oid AS parent, pg_table_size(inhrelid) AS bytes
      FROM pg_inherits WHERE inhparent = 'request_records'::regclass
      UNION ALL
      SELECT inhparent, pg_relation_size(inhrelid)
      FROM pg_inherits JOIN pg_index ON indexrelid = inhparent
      WHERE indrelid = 'request_records'::regclass
    ) AS parts LEFT JOIN pg_class AS parent_index ON parent_index.oid = parent
    GROUP BY parent_index.relname ORDER BY bytes DESC`);
  const total = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  const per = (bytes: number) => (bytes / count).toFixed(1);
  const shown = parts.map(({ name, bytes }) => `${name} ${per(bytes)}`).join(', ');
  print(
    `${count} records, ${(total / 1024 ** 3).toFixed(1)} GiB; bytes/record: ${per(total)}: ${shown}`,
  );
}
