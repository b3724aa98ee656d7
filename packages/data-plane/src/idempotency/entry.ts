import { formatField } from '@gateway/shared/formats';
import { z } from 'zod';

const MAX_HEAD_BYTES = 4096;

/** The format of an entry. */
const IDEMPOTENCY_ENTRY_FORMAT = 1;

const known = {
  /** SHA-256 of the request, hex. */
  fingerprint: z.string().regex(/^[0-9a-f]{64}$/),
  /** Of the request that claimed the key. */
  request_id: z.string().max(64),
  /** Of this claim alone, so that its owner knows it again. */
  claim_id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  /** Milliseconds since the Unix epoch, by the clock of the NATS server as far as it is known. */
  expires_at_ms: z.number(),
};

const headSchema = z.discriminatedUnion('state', [
  z.object({ state: z.literal('claimed'), ...known, lease_until_ms: z.number() }),
  z.object({ state: z.literal('unknown'), ...known }),
  z.object({
    state: z.literal('done'),
    ...known,
    /** Id of the master key from which the key of the answer was derived. */
    key_id: z.string().max(32),
    /** Whether the body is in the answer; it is not where it was too large. */
    body_kept: z.boolean(),
    /** Further values that the sealed answer goes on in: `<name>.<claim id>.<number>` from 0. */
    parts: z.int().min(0).max(256),
  }),
]);

const storedHeadSchema = z
  .object({ format: formatField(IDEMPOTENCY_ENTRY_FORMAT) })
  .and(headSchema);

/**
 * What stands under a key. `claimed`: a request runs, or its data plane died, which the lease tells.
 * `unknown`: it was sent, and its end will never be known. `done`: its answer is kept, sealed.
 */
export type EntryHead = z.infer<typeof headSchema>;
export type DoneHead = Extract<EntryHead, { state: 'done' }>;

export interface Entry {
  readonly head: EntryHead;
  /** The bytes of the head as they are stored. */
  readonly headBytes: Uint8Array;
  /** Of a `done` entry: the sealed answer, or its beginning. */
  readonly sealed: Uint8Array;
}

/** The entry as the store keeps it: length of the head (4 bytes, big endian), head as JSON, the rest. */
export function encodeEntry(headBytes: Uint8Array, sealed?: Uint8Array): Uint8Array {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(headBytes.length);
  return Buffer.concat(sealed === undefined ? [length, headBytes] : [length, headBytes, sealed]);
}

export function encodeHead(head: EntryHead): Uint8Array {
  return Buffer.from(JSON.stringify({ format: IDEMPOTENCY_ENTRY_FORMAT, ...head }), 'utf8');
}

/** The value is not an entry that this version reads, so the state of its key is not known. */
export class UnreadableEntryError extends Error {
  override readonly name = 'UnreadableEntryError';
}

/** @throws UnreadableEntryError */
export function decodeEntry(value: Uint8Array): Entry {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (bytes.length < 4) throw new UnreadableEntryError('the entry is truncated');
  const length = bytes.readUInt32BE(0);
  if (length > MAX_HEAD_BYTES || 4 + length > bytes.length) {
    throw new UnreadableEntryError('the entry is truncated');
  }
  const headBytes = bytes.subarray(4, 4 + length);
  const head = storedHeadSchema.safeParse(parseJson(headBytes.toString('utf8')));
  if (!head.success) {
    const [issue] = head.error.issues;
    throw new UnreadableEntryError(`invalid head: ${issue?.path.join('.')} ${issue?.message}`);
  }
  return { head: head.data, headBytes, sealed: bytes.subarray(4 + length) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UnreadableEntryError('invalid head: it is not JSON', { cause });
  }
}
