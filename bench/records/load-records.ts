import { createHash, randomInt } from 'node:crypto';
import type { RecordDocuments } from '@gateway/control-plane/requests/record-document';
import { storeAs } from '@gateway/control-plane/requests/ingest/storable-record';
import { lowestId } from '@gateway/shared/ids';
import type pg from 'pg';
import { createRecordMaker } from '../load/record-maker.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Crockford's base 32, as in `@gateway/shared/ids`. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const RANDOM_CHARS = 16;

/** Values of only a few of the oldest records: the worst case for a list. */
export const RARE = { environment: 'staging', route: 'forgotten', status: 418, count: 3 } as const;

/** The start (UTC, ms) of each of the last `days` days before today, oldest first. */
export function daysBefore(nowMs: number, days: number): readonly number[] {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  return Array.from({ length: days }, (_, index) => today - (days - index) * DAY_MS);
}

/** Creates the rows that `loadDay` copies, with documents of this form. */
export async function loadVariants(client: pg.Client, documents: RecordDocuments): Promise<void> {
  const { variants } = createRecordMaker('data-plane-1', () => Date.now());
  await client.query(`
    CREATE TABLE variants (
      number integer PRIMARY KEY, environment text, route text, status integer, outcome text,
      document jsonb)`);
  const rows = variants.map(storeAs(documents));
  await client.query(
    `INSERT INTO variants
     SELECT ordinality - 1, value->>'environment', value->>'route', (value->>'status')::integer,
       value->>'outcome', (value->>'document')::jsonb
     FROM jsonb_array_elements($1) WITH ORDINALITY`,
    [JSON.stringify(rows)],
  );
}

/** The time of the record with this number among the records of a day, ms. */
function timeOf(dayMs: number, number: number, records: number): number {
  return dayMs + Math.floor((number * DAY_MS) / records);
}

/** The id that `loadDay` gives to this record: to look it up without having read it. */
function idOf(dayMs: number, number: number, records: number): string {
  const start = lowestId('req', timeOf(dayMs, number, records)).slice(0, -RANDOM_CHARS);
  const hash = createHash('md5').update(`usual.${dayMs}.${number}`).digest('hex');
  return start + hash.slice(0, RANDOM_CHARS);
}

/** Ids of stored records at random over all days. */
export function randomIds(
  starts: readonly number[],
  perDay: number,
  count: number,
): readonly string[] {
  return Array.from({ length: count }, () =>
    idOf(starts[randomInt(starts.length)] ?? 0, randomInt(perDay), perDay),
  );
}

/**
 * Creates the partition of a day and fills it with records that are spread evenly over the day. Attaching it builds its
 * indexes, so it is filled first, which is many times as fast as single inserts.
 *
 * @param withRare also inserts the few records of `RARE`
 */
export async function loadDay(
  client: pg.Client,
  dayMs: number,
  records: number,
  withRare: boolean,
): Promise<void> {
  const day = (ms: number) => new Date(ms).toISOString();
  const partition = `request_records_${day(dayMs).slice(0, 10).replaceAll('-', '')}`;
  const digits = Array.from({ length: 10 }, (_, index) => {
    const shift = (9 - index) * 5;
    return `substr('${ALPHABET}', ((ms >> ${shift}) & 31)::integer + 1, 1)`;
  });
  const make = (count: number, salt: string, columns: string) => `
    INSERT INTO ${partition} (received_at, id, environment, route, status, outcome, document)
    SELECT to_timestamp(ms::float8 / 1000),
      'req_' || ${digits.join(' || ')} || substr(md5('${salt}.${dayMs}.' || i), 1, ${RANDOM_CHARS}),
      ${columns}, document
    FROM (
      SELECT i, ${dayMs} + floor(i * ${DAY_MS}::float8 / ${count})::bigint AS ms
      FROM generate_series(0, ${count - 1}) AS i
    ) AS at JOIN variants ON number = (i::bigint * 7919) % (SELECT count(*) FROM variants)`;
  const { environment, route, status, count } = RARE;
  const rare = `'${environment}', '${route}', ${status}, 'client_aborted'`;
  await client.query('BEGIN');
  await client.query(`DROP TABLE IF EXISTS ${partition}`);
  await client.query(`CREATE TABLE ${partition} (LIKE request_records INCLUDING DEFAULTS)`);
  await client.query(make(records, 'usual', 'environment, route, status, outcome'));
  if (withRare) await client.query(make(count, 'rare', rare));
  await client.query(
    `ALTER TABLE request_records ATTACH PARTITION ${partition}
     FOR VALUES FROM ('${day(dayMs)}') TO ('${day(dayMs + DAY_MS)}')`,
  );
  await client.query('COMMIT');
  await client.query(`VACUUM (ANALYZE) ${partition}`);
}
