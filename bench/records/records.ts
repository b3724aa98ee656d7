import { RECORD_DOCUMENTS } from '@gateway/control-plane/requests/record-document';
import type pg from 'pg';
import { choice, command, whole } from '../command.ts';
import { startStack } from '../lab/stack.ts';
import { withClient } from '../lab/with-client.ts';
import { limitMemory } from './memory-limit.ts';
import { daysBefore, loadDay, loadVariants, randomIds } from './load-records.ts';
import { timeLists, timeLookups } from './time-queries.ts';

const LOADERS = 2;
const MIB = 1024 * 1024;

const print = (line: string) => process.stdout.write(`${line}\n`);

/**
 * Measures how long record queries take over the real control plane when Postgres holds many records.
 */
export const records = command({
  name: 'records',
  summary: 'duration of record queries when Postgres holds many records',
  options: {
    rows: whole(10_000_000, [1, 100_000_000], 'records; 10 million take 12 GB, compact ones 7 GB'),
    days: whole(29, [1, 29], 'days that the records are spread over'),
    lookups: whole(2000, [100, 100_000], 'records that are looked up by id'),
    documents: choice(RECORD_DOCUMENTS, 'named', 'as RECORD_DOCUMENTS of the control plane'),
    memoryMib: whole(
      undefined,
      [128, 1_000_000],
      'memory of Postgres with its page cache (a control group; needs Linux and root)',
    ),
  },
  async run(run, { rows, days, lookups, documents, memoryMib }) {
    const { stack, client: api } = await startStack(run, { postgres: 'thrown away' });
    if (memoryMib !== undefined && stack.postgres !== undefined) {
      await limitMemory(run, stack.postgres.pid, memoryMib * MIB);
    }
    const starts = daysBefore(Date.now(), days);
    const perDay = Math.floor(rows / days);
    const startedMs = performance.now();
    const left = [...starts];
    let loaded = 0;
    const load = async (client: pg.Client): Promise<void> => {
      for (let day = left.shift(); day !== undefined; day = left.shift()) {
        await loadDay(client, day, perDay, day === starts[0]);
        loaded += perDay;
        print(`${loaded} records after ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
      }
    };
    await withClient(stack.databaseUrl, run, async (client) => {
      await loadVariants(client, documents);
      const loaders = Array.from({ length: LOADERS }, () =>
        withClient(stack.databaseUrl, run, load),
      );
      await Promise.all(loaders);
      await printSizes(client);
      const ids = randomIds(starts, perDay, lookups);
      const queried = { client, api, signal: run.signal, print };
      await timeLookups(queried, ids);
      await timeLists(queried, Math.floor((days * 2) / 3));
    });
  },
});

/** Prints how many bytes of disk a record takes: in the table, and in each index. */
async function printSizes(client: pg.Client): Promise<void> {
  const { rows: parts } = await client.query<{ name: string; bytes: number; count: number }>(`
    SELECT coalesce(parent_index.relname, 'table') AS name, sum(bytes)::float8 AS bytes,
      (SELECT count(*)::float8 FROM request_records) AS count
    FROM (
      SELECT NULL::oid AS parent, pg_table_size(inhrelid) AS bytes
      FROM pg_inherits WHERE inhparent = 'request_records'::regclass
      UNION ALL
      SELECT inhparent, pg_relation_size(inhrelid)
      FROM pg_inherits JOIN pg_index ON indexrelid = inhparent
      WHERE indrelid = 'request_records'::regclass
    ) AS parts LEFT JOIN pg_class AS parent_index ON parent_index.oid = parent
    GROUP BY parent_index.relname ORDER BY bytes DESC`);
  const count = parts[0]?.count ?? NaN;
  const total = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  const per = (bytes: number) => (bytes / count).toFixed(1);
  const shown = parts.map(({ name, bytes }) => `${name} ${per(bytes)}`).join(', ');
  const gib = (total / 1024 ** 3).toFixed(1);
  print(`${count} records, ${gib} GiB; bytes/record: ${per(total)}: ${shown}`);
}
