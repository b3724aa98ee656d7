import { formatField } from '@gateway/shared/formats';
import { z } from 'zod';

const MAX_HEAD_BYTES = 4096;
const LENGTH_BYTES = 4;

/** The format of an entry. */
const IDEMPOTENCY_ENTRY_FORMAT = 1;

const commonFields = {
  /** SHA-256 of the request, hex. */
  fingerprint: z.string().regex(/^[0-9a-f]{64}$/),
  /** The id of the request that claimed the key. */
  request_id: z.string().max(64),
  /** The id of this claim, by which its owner recognizes it. */
  claim_id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  /** Milliseconds since the Unix epoch, by the clock of the NATS server if it is known. */
  expires_at_ms: z.number(),
};

const headSchema = z.discriminatedUnion('state', [
  z.object({ state: z.literal('claimed'), ...commonFields, lease_until_ms: z.number() }),
  z.object({ state: z.literal('unknown'), ...commonFields }),
  z.object({
    state: z.literal('done'),
    ...commonFields,
    /** The id of the master key from which the encryption key of the response is derived. */
    key_id: z.string().max(32),
    /** Whether the response contains its body. A body that was too large is not stored. */
    body_kept: z.boolean(),
    /** The number of further values with the rest of the response: `<name>.<claim id>.<number>` from 0. */
    parts: z.int().min(0).max(256),
    /**
     * The status of the response, if the same request may run again because this run certainly had no effect. Readers
     * older than this field replay the response.
     */
    repeatable_status: z.int().optional(),
  }),
]);

const storedHeadSchema = z
  .object({ format: formatField(IDEMPOTENCY_ENTRY_FORMAT) })
  .and(headSchema);

/**
 * The state of a key. `claimed`: a request runs, or its data plane died, which is known when the lease ends. `unknown`:
 * the request was sent, and its outcome will never be known. `done`: its encrypted response is stored; with a
 * `repeatable_status` it is only for duplicates that waited for it.
 */
export type EntryHead = z.infer<typeof headSchema>;
export type DoneHead = Extract<EntryHead, { state: 'done' }>;

/** The stored entry of a key. */
export interface KeyEntry {
  readonly head: EntryHead;
  /** The head as it is stored. */
  readonly headText: string;
  /** The encrypted response of a `done` entry, or its first part. */
  readonly sealed: Uint8Array;
}

/** The stored form of an entry: length of the head (4 bytes, big endian), head as JSON, encrypted response. */
export function encodeEntry(headText: string, sealed?: Uint8Array): Uint8Array {
  const headBytes = Buffer.byteLength(headText);
  const sealedAt = LENGTH_BYTES + headBytes;
  // Every byte is written below.
  const entry = Buffer.allocUnsafe(sealedAt + (sealed?.length ?? 0));
  entry.writeUInt32BE(headBytes);
  entry.write(headText, LENGTH_BYTES, 'utf8');
  if (sealed !== undefined) entry.set(sealed, sealedAt);
  return entry;
}

/** The stored form of a head, JSON. */
export function encodeHead(head: EntryHead): string {
  return JSON.stringify({ format: IDEMPOTENCY_ENTRY_FORMAT, ...head });
}

/** The value is not an entry that this version can parse, so the state of its key is unknown. */
export class UnreadableEntryError extends Error {
  override readonly name = 'UnreadableEntryError';
}

/**
 * Parses a stored entry.
 *
 * @throws UnreadableEntryError
 */
export function decodeEntry(value: Uint8Array): KeyEntry {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (bytes.length < LENGTH_BYTES) throw new UnreadableEntryError('the entry is truncated');
  const length = bytes.readUInt32BE(0);
  if (length > MAX_HEAD_BYTES || LENGTH_BYTES + length > bytes.length) {
    throw new UnreadableEntryError('the entry is truncated');
  }
  const sealedAt = LENGTH_BYTES + length;
  const headText = bytes.toString('utf8', LENGTH_BYTES, sealedAt);
  const head = storedHeadSchema.safeParse(parseJson(headText));
  if (!head.success) {
    const [issue] = head.error.issues;
    throw new UnreadableEntryError(`invalid head: ${issue?.path.join('.')} ${issue?.message}`);
  }
  return { head: head.data, headText, sealed: bytes.subarray(sealedAt) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UnreadableEntryError('invalid head: it is not JSON', { cause });
  }
}
