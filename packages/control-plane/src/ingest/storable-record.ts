import { isId, timeOfId } from '@gateway/shared/ids';
import { requestRecordSchema, type RequestRecord } from '@gateway/shared/records/record';
import type { StorableRecord } from '../store/records.ts';

/** Longer names can be no route or environment, and would not fit into an index of Postgres. */
const MAX_NAME_CHARS = 255;

export interface ParsedBatch {
  readonly records: readonly StorableRecord[];
  /** Entries that are no record; they are counted and left out, the others of the batch are kept. */
  readonly refused: number;
}

/** Reads a message of the record stream. Undefined where it is not even a JSON array. */
export function parseBatch(text: string): ParsedBatch | undefined {
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(entries)) return undefined;
  const records: StorableRecord[] = [];
  for (const entry of entries) {
    const parsed = requestRecordSchema.safeParse(entry);
    if (parsed.success && isId('req', parsed.data.id)) records.push(storableRecord(parsed.data));
  }
  return { records, refused: entries.length - records.length };
}

/**
 * The record as Postgres takes it: what lists filter by in columns of their own, the rest as a
 * document. The time is that of the id, as a look-up has nothing but the id to find its partition by.
 */
export function storableRecord(record: RequestRecord): StorableRecord {
  const { id, environment, route, status, outcome, ...rest } = record;
  return {
    id,
    receivedAtMs: timeOfId(id),
    environment: storableName(environment),
    route: storableName(route),
    status,
    outcome,
    document: storableJson({ ...rest, received_at_ms: undefined }),
  };
}

function storableName(name: string | null): string | null {
  return name === null ? null : storableText(name.slice(0, MAX_NAME_CHARS));
}

/** JSON escapes of what Postgres refuses in a jsonb document: NUL, and halves of surrogate pairs. */
const MAY_BE_REFUSED = /\\u(?:0000|d[89a-f])/;

function storableJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!MAY_BE_REFUSED.test(text)) return text;
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'string' ? storableText(part) : part,
  );
}

/** Paths and ids come from outside: what Postgres cannot hold becomes U+FFFD. */
function storableText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
