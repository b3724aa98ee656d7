import { isId, timeOfId } from '@gateway/shared/ids';
import type { RequestRecord } from '@gateway/shared/records/record';
import { recordBatchSchema, type BatchPlace } from '@gateway/shared/records/record-batch';
import { recordRowSchema } from '@gateway/shared/records/record-row';
import { MAX_DAYS_AHEAD } from '../../partitions/partitioned-table.ts';
import { compactDocument, namedDocument, type RecordDocuments } from '../record-document.ts';
import type { StorableRecord } from '../store/records.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Longer names are not valid, and would not fit into an index of Postgres. */
const MAX_NAME_CHARS = 255;

export interface ParsedBatch {
  /** undefined: the data plane is of an older release. */
  readonly place: BatchPlace | undefined;
  readonly records: readonly StorableRecord[];
  /** Skipped entries: malformed, or dated too far ahead. */
  readonly refused: number;
  /** The last use of each token in these records, ms since the Unix epoch. */
  readonly tokenUses: ReadonlyMap<string, number>;
}

/**
 * Reads a message of the record stream.
 *
 * @param nowMs the time now, ms since the Unix epoch: records dated more than 30 days ahead are refused,
 * because they have no partition
 * @returns undefined if the message is not a batch in a format that is known.
 */
export function parseBatch(
  text: string,
  nowMs: number,
  documents: RecordDocuments = 'named',
): ParsedBatch | undefined {
  const batch = recordBatchSchema.safeParse(parseJson(text));
  if (!batch.success) return undefined;
  const { records: entries, process, sequence } = batch.data;
  const place = process === undefined || sequence === undefined ? undefined : { process, sequence };
  const toRow = storeAs(documents);
  const latestMs = nowMs + MAX_DAYS_AHEAD * DAY_MS;
  const records: StorableRecord[] = [];
  const tokenUses = new Map<string, number>();
  for (const entry of entries) {
    const parsed = recordRowSchema.safeParse(entry);
    if (!parsed.success || !isId('req', parsed.data.id)) continue;
    if (timeOfId(parsed.data.id) > latestMs) continue;
    const record = toRow(parsed.data);
    records.push(record);
    const tokenId = acceptedToken(parsed.data);
    if (tokenId === undefined) continue;
    const last = tokenUses.get(tokenId) ?? 0;
    tokenUses.set(tokenId, Math.max(last, record.receivedAtMs));
  }
  return { place, records, refused: entries.length - records.length, tokenUses };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The token of the request unless authentication failed. */
function acceptedToken({ token_id, error_code }: RequestRecord): string | undefined {
  if (token_id === null || !isId('tok', token_id)) return undefined;
  return error_code === 'authentication_failed' ? undefined : token_id;
}

/**
 * Makes a row of a record: the fields for filters in columns, the other fields that are not null in a document of this
 * form. The time is that of the id, because a lookup by id must find the partition.
 */
export function storeAs(documents: RecordDocuments): (record: RequestRecord) => StorableRecord {
  return (record) => {
    const { id, status, outcome, timing } = record;
    const { route_version: version, service_id: serviceId } = record;
    const route = storableName(record.route);
    return {
      id,
      receivedAtMs: timeOfId(id),
      environment: storableName(record.environment),
      route,
      status,
      grpcStatus: record.grpc_status,
      outcome,
      otherKind: record.kind === 'request' ? null : record.kind,
      version: storableName(version),
      serviceId: storableName(serviceId),
      configVersion: record.config_version,
      durationMs: timing.total_ms,
      document: storableJson(
        documents === 'compact'
          ? compactDocument(record, route, storableJson)
          : namedDocument(record),
      ),
    };
  };
}

/** The record as a row with a named document. */
export const storableRecord = storeAs('named');

function storableName(name: string | null): string | null {
  return name === null ? null : storableText(name.slice(0, MAX_NAME_CHARS));
}

/** JSON escapes that Postgres refuses in jsonb: NUL and lone surrogates. */
const MAY_BE_REFUSED = /\\u(?:0000|d[89a-f])/;

function storableJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!MAY_BE_REFUSED.test(text)) return text;
  return JSON.stringify(value, (_key, part: unknown) => storablePart(part));
}

/** Makes a string, or the names of an object, storable; JSON.stringify visits the values. */
function storablePart(part: unknown): unknown {
  if (typeof part === 'string') return storableText(part);
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
  return Object.fromEntries(Object.entries(part).map(([name, one]) => [storableText(name), one]));
}

/** Paths and ids come from callers: characters that Postgres cannot store become U+FFFD. */
function storableText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
