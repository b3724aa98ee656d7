import type { EntryOwner } from '../../nats/bucket-bounds.ts';
import type { HeldEntry } from '../../nats/held-bytes.ts';
import { KEPT_MS } from '../decide-key.ts';
import { encodeEntry, encodeHead, type EntryHead } from './entry.ts';
import type { ResponseVault, StoredResponse } from './response-vault.ts';
import { sealResponse, type CommonFields } from './sealed-response.ts';

/** The claim of a dead data plane ends this long after its last renewal, plus the allowed clock skew. */
export const LEASE_MS = 8000;

/** The key and the request that claims it. */
export interface ClaimedKey extends HeldEntry {
  readonly name: string;
  readonly fingerprint: string;
  readonly requestId: string;
  readonly claimId: string;
  /** On whose behalf it is stored. */
  readonly owner: EntryOwner;
  /** The entry that the claim replaced: unknown, or repeatable. undefined: there was none, or it had expired. */
  readonly before: EntryHead | undefined;
}

/** The fields of every value that the claim writes now. */
export function commonFields(key: ClaimedKey, nowMs: number): CommonFields {
  return {
    fingerprint: key.fingerprint,
    request_id: key.requestId,
    claim_id: key.claimId,
    expires_at_ms: nowMs + KEPT_MS,
  };
}

/** The stored value of a claim that is created or renewed now. */
export function claimValue(key: ClaimedKey, nowMs: number): Uint8Array {
  return encodeEntry(
    encodeHead({ ...commonFields(key, nowMs), state: 'claimed', lease_until_ms: nowMs + LEASE_MS }),
  );
}

/** The stored value of a key whose request was sent and whose outcome will never be known. */
export function unknownValue(common: CommonFields): Uint8Array {
  return encodeEntry(encodeHead({ ...common, state: 'unknown' }));
}

/**
 * What a key gets back if the request of its claim had no effect; undefined: it becomes free. An unknown outcome stays
 * unknown, and a repeatable key stays one of the same request. The value has the id of the claim, so that its owner
 * recognizes it, and no response, which would be that of another run.
 */
export function valueBefore(vault: ResponseVault, key: ClaimedKey): Uint8Array | undefined {
  const { name, fingerprint, claimId, before } = key;
  if (before === undefined) return undefined;
  const { request_id, expires_at_ms } = before;
  const common = { fingerprint, request_id, claim_id: claimId, expires_at_ms };
  if (before.state !== 'done') return unknownValue(common);
  const status = before.repeatable_status ?? 0;
  const response = { status, statusText: '', fields: [], body: undefined };
  return sealResponse(vault, Infinity, name, common, response, true).value;
}

/** The status alone. */
export function withoutContent(response: StoredResponse): StoredResponse {
  return { ...response, fields: [], body: undefined, trailers: undefined };
}
