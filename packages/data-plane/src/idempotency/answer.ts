import { encodeEntry, encodeHead, type DoneHead, type Entry } from './entry.ts';
import type { IdempotencyStore } from './idempotency-store.ts';
import { AnswerUnreadableError, type AnswerVault, type StoredAnswer } from './vault.ts';

type Known = Pick<DoneHead, 'fingerprint' | 'request_id' | 'claim_id' | 'expires_at_ms'>;

/** An answer as it goes into the store. Made once, so that writing it again changes nothing. */
export interface SealedAnswer {
  readonly value: Uint8Array;
  /** What did not fit into the value: to be written before it. */
  readonly parts: readonly AnswerPart[];
}

export interface AnswerPart {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A head with a number of parts is longer than one without. */
const HEAD_MARGIN_BYTES = 16;

/** Seals an answer and divides it into values of at most `maxValueBytes`. */
export function sealAnswer(
  vault: AnswerVault,
  maxValueBytes: number,
  name: string,
  known: Known,
  answer: StoredAnswer,
): SealedAnswer {
  const head = (parts: number): Uint8Array =>
    encodeHead({
      ...known,
      state: 'done',
      key_id: vault.newestKeyId,
      body_kept: answer.body !== undefined,
      parts,
    });
  let headBytes = head(0);
  let sealed = vault.seal(answer, name, headBytes);
  const room = maxValueBytes - headBytes.length - HEAD_MARGIN_BYTES;
  if (sealed.length <= room) return { value: encodeEntry(headBytes, sealed), parts: [] };

  const count = Math.ceil((sealed.length - room) / maxValueBytes);
  headBytes = head(count);
  sealed = vault.seal(answer, name, headBytes);
  const parts = Array.from({ length: count }, (_, part) => {
    const start = room + part * maxValueBytes;
    return {
      name: partName(name, known.claim_id, part),
      bytes: sealed.subarray(start, start + maxValueBytes),
    };
  });
  return { value: encodeEntry(headBytes, sealed.subarray(0, room)), parts };
}

/**
 * Writes the parts, so that whoever sees the value finds them. What is written is taken out of the
 * list, so that another call goes on where this one failed.
 *
 * @throws StoreUnavailableError
 */
export async function writeParts(store: IdempotencyStore, pending: AnswerPart[]): Promise<void> {
  for (let part = pending[0]; part !== undefined; part = pending[0]) {
    // Nobody else has this name: what stands there already was written by a call before.
    await store.write(part.name, part.bytes, 0);
    pending.shift();
  }
}

/**
 * The answer of a `done` entry.
 *
 * @throws AnswerUnreadableError where it is not whole, or cannot be opened with the keys at hand
 * @throws StoreUnavailableError
 */
export async function openAnswer(
  store: IdempotencyStore,
  vault: AnswerVault,
  name: string,
  entry: Entry,
  head: DoneHead,
): Promise<StoredAnswer> {
  const pieces = [entry.sealed];
  for (let part = 0; part < head.parts; part += 1) {
    const { value } = await store.read(partName(name, head.claim_id, part));
    if (value === undefined) throw new AnswerUnreadableError('a part of it is gone');
    pieces.push(value);
  }
  const sealed = pieces.length === 1 ? entry.sealed : Buffer.concat(pieces);
  return vault.open(sealed, head.key_id, head.body_kept, name, entry.headBytes);
}

function partName(name: string, claimId: string, part: number): string {
  return `${name}.${claimId}.${part}`;
}
