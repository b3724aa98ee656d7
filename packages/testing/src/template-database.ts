import { systemClock } from '@gateway/shared/clock';
import { createLogger } from '@gateway/shared/telemetry/logger';
import type pg from 'pg';

/** What a new database holds: the tables, or also the partitions that a control plane makes when it starts. */
export type Template = 'tables' | 'partitions';

/** Advisory lock, so that only one worker of jest creates a template. */
const LOCK = 7_301_001;

interface Step {
  readonly from: Template | undefined;
  /** Adds to a copy of `from`. Kysely takes a tenth of a second to load, so it is loaded only where it is needed. */
  readonly add: (url: string) => Promise<void>;
}

const steps: Readonly<Record<Template, Step>> = {
  tables: {
    from: undefined,
    async add(url) {
      const { migrate } = await import('@gateway/control-plane/store/migrate');
      await migrate(url);
    },
  },
  partitions: {
    from: 'tables',
    async add(url) {
      const { openDatabase } = await import('@gateway/control-plane/store/database');
      const { maintainPartitions } =
        await import('@gateway/control-plane/partitions/maintain-partitions');
      const log = createLogger('test', 'silent');
      const database = openDatabase({ url, log });
      const { signal } = new AbortController();
      try {
        await maintainPartitions({ db: database.db, clock: systemClock, log }, signal);
      } finally {
        await database.close();
      }
    },
  },
};

/**
 * Creates the template once per Postgres, under another name until it is complete.
 *
 * @returns the name of the database to copy
 */
export async function ensureTemplate(
  client: pg.ClientBase,
  template: Template,
  urlOf: (database: string) => string,
): Promise<string> {
  const name = `gateway_${template}`;
  const exists = `select 1 from pg_database where datname = '${name}'`;
  if ((await client.query(exists)).rowCount !== 0) return name;
  const { from, add } = steps[template];
  const source = from === undefined ? 'template1' : await ensureTemplate(client, from, urlOf);
  await client.query('select pg_advisory_lock($1)', [LOCK]);
  try {
    if ((await client.query(exists)).rowCount !== 0) return name;
    await client.query(`drop database if exists ${name}_draft with (force)`);
    await client.query(`create database ${name}_draft template ${source}`);
    await add(urlOf(`${name}_draft`));
    await client.query(`alter database ${name}_draft rename to ${name}`);
  } finally {
    await client.query('select pg_advisory_unlock($1)', [LOCK]);
  }
  return name;
}
