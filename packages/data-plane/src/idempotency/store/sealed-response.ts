import { encodeEntry, encodeHead, type DoneHead, type KeyEntry } from './entry.ts';
import type { IdempotencyStore } from './idempotency-store.ts';
import {
  ResponseUnreadableError,
  type ResponseVault,
  type StoredResponse,
} from './response-vault.ts';

/** The fields of every value of a key. */
export type CommonFields = Pick<
  DoneHead,
  'fingerprint' | 'request_id' | 'claim_id' | 'expires_at_ms'
>;

/** An encrypted response as it is stored. It is created once, so that writing it again changes nothing. */
export interface SealedResponse {
  readonly value: Uint8Array;
  /** The rest that does not fit into the value. It must be written before the value. */
  readonly parts: readonly ResponsePart[];
}

/** A part of an encrypted response, stored under its own name. */
export interface ResponsePart {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A head with a number of parts may be this much longer than one without. */
const HEAD_MARGIN_BYTES = 16;

/**
 * Encrypts a response and divides it into values of at most `maxValueBytes`.
 *
 * @param isRepeatable whether the same request may run again
 */
export function sealResponse(
  vault: ResponseVault,
  maxValueBytes: number,
  name: string,
  common: CommonFields,
  response: StoredResponse,
  isRepeatable = false,
): SealedResponse {
  const head = (parts: number): string =>
    encodeHead({
      ...common,
      state: 'done',
      key_id: vault.newestKeyId,
      body_kept: response.body !== undefined,
      parts,
      ...(isRepeatable && { repeatable_status: response.status }),
    });
  let headText = head(0);
  let sealed = vault.seal(response, name, headText);
  const room = maxValueBytes - Buffer.byteLength(headText) - HEAD_MARGIN_BYTES;
  if (sealed.length <= room) return { value: encodeEntry(headText, sealed), parts: [] };

  const count = Math.ceil((sealed.length - room) / maxValueBytes);
  headText = head(count);
  sealed = vault.seal(response, name, headText);
  const parts = Array.from({ length: count }, (_, part) => {
    const start = room + part * maxValueBytes;
    return {
      name: partName(name, common.claim_id, part),
      bytes: sealed.subarray(start, start + maxValueBytes),
    };
  });
  return { value: encodeEntry(headText, sealed.subarray(0, room)), parts };
}

/**
 * Writes the parts before the value, so that every reader of the value finds them. Written parts are removed from the
 * list, so that another call continues where this one failed.
 *
 * @throws StoreUnavailableError
 */
export async function writeParts(store: IdempotencyStore, pending: ResponsePart[]): Promise<void> {
  for (let part = pending[0]; part !== undefined; part = pending[0]) {
    // The name is unique to this claim, so an existing value was written by an earlier call.
    await store.write(part.name, part.bytes, 0);
    pending.shift();
  }
}

/**
 * Reads and decrypts the response of a `done` entry.
 *
 * @throws ResponseUnreadableError if a part is missing, or it cannot be decrypted with the known keys
 * @throws StoreUnavailableError
 */
export async function openResponse(
  store: IdempotencyStore,
  vault: ResponseVault,
  name: string,
  entry: KeyEntry,
  head: DoneHead,
): Promise<StoredResponse> {
  const pieces = [entry.sealed];
  for (let part = 0; part < head.parts; part += 1) {
    const { value } = await store.read(partName(name, head.claim_id, part));
    if (value === undefined) throw new ResponseUnreadableError('a part is missing');
    pieces.push(value);
  }
  const sealed = pieces.length === 1 ? entry.sealed : Buffer.concat(pieces);
  return vault.open(sealed, head.key_id, head.body_kept, name, entry.headText);
}

function partName(name: string, claimId: string, part: number): string {
  return `${name}.${claimId}.${part}`;
}
