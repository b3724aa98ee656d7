import { headerNamesOf, headerNamesText } from '@gateway/shared/records/header-names-text';
import type { RequestRecord } from '@gateway/shared/records/record';
import {
  recordRow,
  recordRowSchema,
  ROW_POSITIONS as AT,
  type RecordRow as Row,
} from '@gateway/shared/records/record-row';

/**
 * How the fields of a record without a column are stored. `named`: an object with the names of the API, without nulls.
 * `compact`: an array, see `COMPACT`. Every control plane reads both.
 */
export const RECORD_DOCUMENTS = ['named', 'compact'] as const;

export type RecordDocuments = (typeof RECORD_DOCUMENTS)[number];

/**
 * Where the values of a compact document stand: those that lists filter by, then the text of the row of the record
 * (`recordRow`), in which the values that stand elsewhere are 0. The row is a text because jsonb needs 12 to 16 bytes
 * for each number and 4 for each value.
 */
export const COMPACT = {
  tokenId: 0,
  method: 1,
  errorCode: 2,
  upstreamId: 3,
  upstreamUrl: 4,
  upstreamRegion: 5,
  totalUs: 6,
  row: 7,
} as const;

/** Stands in a row for a value that stands elsewhere. */
const ELSEWHERE = 0;

/** The values of a record that have a column; `receivedAtMs` is that of the partition. */
export interface RecordColumns extends Pick<
  RequestRecord,
  'id' | 'environment' | 'route' | 'status'
> {
  readonly outcome: string;
  readonly receivedAtMs: number;
}

/**
 * The fields without a column that are not null; of the kind, only those that are not usual. The names of header fields
 * are one text, which takes a sixth of a list.
 */
export function namedDocument(record: RequestRecord): Record<string, unknown> {
  const { header_names: names } = record;
  const header_names = names === null ? null : headerNamesText(names);
  const fields: Record<string, unknown> = { ...record, header_names, ...NOT_IN_DOCUMENT };
  const kept: Record<string, unknown> = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== null && !(name === 'kind' && value === 'request')) kept[name] = value;
  }
  return kept;
}

const NOT_IN_DOCUMENT = {
  id: null,
  environment: null,
  route: null,
  status: null,
  outcome: null,
  received_at_ms: null,
};

/**
 * @param route the name in the column
 * @param encode makes the text of the row
 */
export function compactDocument(
  record: RequestRecord,
  route: string | null,
  encode: (row: Row) => string,
): readonly unknown[] {
  const row = [...recordRow(record)];
  const { upstream } = record;
  row[AT.path] = withoutPrefix(record.path, route);
  if (upstream !== null) {
    row[AT.attempts] = (row[AT.attempts] as Row[]).map(([id, region, ...others]) =>
      id === upstream.id && region === upstream.region
        ? [ELSEWHERE, ELSEWHERE, ...others]
        : [id, region, ...others],
    );
  }
  const totalUs = row[AT.totalUs];
  for (const position of MOVED) row[position] = ELSEWHERE;
  const { token_id: tokenId, method, error_code: errorCode } = record;
  const { id = null, url = null, region = null } = upstream ?? {};
  return [tokenId, method, errorCode, id, url, region, totalUs, encode(row)];
}

const MOVED = [
  AT.id,
  AT.environment,
  AT.route,
  AT.method,
  AT.status,
  AT.outcome,
  AT.errorCode,
  AT.receivedAtMs,
  AT.totalUs,
  AT.upstream,
  AT.tokenId,
] as const;

/** Most paths begin with the name of the route, which has a column. A list of one text: the rest of such a path. */
function withoutPrefix(path: string, route: string | null): string | readonly [string] {
  const prefix = prefixOf(route);
  return path.startsWith(prefix) ? [path.slice(prefix.length)] : path;
}

function prefixOf(route: string | null): string {
  return `/v1/proxy/${route ?? ''}`;
}

/**
 * The fields of a document under the names of the API; a compact one has those of the columns too.
 *
 * @throws if a compact document is malformed
 */
export function fieldsOfDocument(
  document: unknown,
  columns: RecordColumns,
): Readonly<Record<string, unknown>> {
  if (Array.isArray(document)) return recordOfCompact(document, columns);
  const fields = document as Readonly<Record<string, unknown>>;
  const { header_names: names } = fields;
  return typeof names === 'string' ? { ...fields, header_names: headerNamesOf(names) } : fields;
}

function recordOfCompact(document: Row, columns: RecordColumns): RequestRecord {
  const row = JSON.parse(document[COMPACT.row] as string) as unknown[];
  const upstreamId = document[COMPACT.upstreamId];
  const region = document[COMPACT.upstreamRegion];
  row[AT.id] = columns.id;
  row[AT.environment] = columns.environment;
  row[AT.route] = columns.route;
  row[AT.method] = document[COMPACT.method];
  row[AT.status] = columns.status;
  row[AT.outcome] = columns.outcome;
  row[AT.errorCode] = document[COMPACT.errorCode];
  row[AT.receivedAtMs] = columns.receivedAtMs;
  row[AT.totalUs] = document[COMPACT.totalUs];
  row[AT.tokenId] = document[COMPACT.tokenId];
  row[AT.upstream] =
    upstreamId === null ? null : [upstreamId, document[COMPACT.upstreamUrl], region];
  const path = row[AT.path];
  if (Array.isArray(path)) row[AT.path] = `${prefixOf(columns.route)}${path[0]}`;
  row[AT.attempts] = (row[AT.attempts] as Row[]).map(([id, attemptRegion, ...others]) =>
    id === ELSEWHERE ? [upstreamId, region, ...others] : [id, attemptRegion, ...others],
  );
  return recordRowSchema.parse(row);
}
