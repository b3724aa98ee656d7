import { createHash } from 'node:crypto';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { readKeyField } from '@gateway/shared/http/idempotency-key';
import { SecretUnreadableError, type SecretVault } from '@gateway/shared/secrets/secret-vault';
import type { Database } from '../../store/database.ts';
import { isLockTimeout } from '../../store/failures.ts';
import { KeyedChange, KeyUsedError, type ResponseToStore } from './store/keyed-change.ts';
import { findKey, takeSecret, type KeyClaim, type StoredKey } from './store/keys.ts';
import type { CallerToken } from '../../access/caller.ts';
import type { Call, Endpoint } from '../endpoint.ts';
import { invalidField } from '../input.ts';
import type { Reply } from '../reply.ts';

/** How long a call waits for the first call with its key, ms. */
const WAIT_MS = 3000;
/** How long the response to a retried call still contains the secret, ms. */
const SECRET_MS = 10 * 60 * 1000;

export interface IdempotencyStore {
  readonly db: Database;
  /** Encrypts the secrets of stored responses. */
  readonly vault: SecretVault;
  readonly nowMs: () => number;
}

export interface KeyedRequest {
  /** The `Idempotency-Key` field, not parsed. */
  readonly field: string;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
}

type AnyCall = Call<unknown, unknown>;

type KeyedEndpoint = Pick<Endpoint, 'run' | 'requireSecretOf'>;

/** A reply, and whether it is that of an earlier call with the same key. */
export interface KeyedReply {
  readonly reply: Reply;
  readonly isReplayed: boolean;
}

/**
 * Runs a POST with an idempotency key once: the key is stored in the transaction of the change. A later call with the
 * same key and the same request gets the stored response; with another request it is refused. A call that fails changes
 * nothing and does not use the key. See docs/adr/0031.
 *
 * @throws GatewayError invalid_request, idempotency_conflict, idempotency_in_progress, idempotency_secret_gone,
 *   authentication_failed, and what `endpoint` throws
 */
export async function runOnce(
  store: IdempotencyStore,
  request: KeyedRequest,
  call: AnyCall,
  endpoint: KeyedEndpoint,
): Promise<KeyedReply> {
  const claim = claimOf(request, call, store.nowMs());
  const earlier = await findKey(store.db, claim);
  if (earlier !== undefined) return replay(store, claim, earlier, call, endpoint);
  const change = new KeyedChange(store.db, claim, WAIT_MS);
  try {
    const reply = await endpoint.run({ ...call, runChange: change.run });
    await change.complete(toStore(store, claim, reply));
    return { reply, isReplayed: false };
  } catch (error) {
    await change.abandon(error);
    if (isLockTimeout(error)) throw inProgress();
    if (!(error instanceof KeyUsedError)) throw error;
    const first = await findKey(store.db, claim);
    if (first === undefined) throw inProgress();
    return replay(store, claim, first, call, endpoint);
  }
}

function claimOf({ field, method, target }: KeyedRequest, call: AnyCall, nowMs: number): KeyClaim {
  const read = readKeyField(field);
  if (read.fault !== undefined) throw invalidField('idempotency-key', read.fault);
  const request = JSON.stringify([method, target, call.sent ?? null]);
  return {
    tokenId: call.token.id,
    keySha256: sha256(read.key),
    fingerprint: sha256(request),
    requestId: call.requestId,
    nowMs,
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The owner of a sealed secret. */
function ownerOf({ tokenId, keySha256 }: KeyClaim): string {
  return `${tokenId} ${keySha256.toString('hex')}`;
}

function toStore(store: IdempotencyStore, claim: KeyClaim, reply: Reply): ResponseToStore {
  if (reply.kind !== 'one' && reply.kind !== 'created') {
    const concerns = reply.concerns ?? null;
    const response = { kind: 'none', data: null, location: null, etag: null, concerns } as const;
    return { response, secret: undefined };
  }
  const { secret, ...data } = reply.data as { secret?: string };
  const sealed = typeof secret === 'string' ? store.vault.seal(secret, ownerOf(claim)) : undefined;
  return {
    response: {
      kind: reply.kind,
      data,
      location: reply.kind === 'created' ? reply.location : null,
      etag: reply.etag ?? null,
      concerns: reply.concerns ?? null,
    },
    secret: sealed && { sealed, until: new Date(claim.nowMs + SECRET_MS) },
  };
}

async function replay(
  store: IdempotencyStore,
  claim: KeyClaim,
  stored: StoredKey,
  call: AnyCall,
  endpoint: KeyedEndpoint,
): Promise<KeyedReply> {
  if (!stored.fingerprint.equals(claim.fingerprint)) {
    throw new GatewayError(
      'idempotency_conflict',
      `The idempotency key was used by the call ${stored.request_id} with another path, query or body.`,
    );
  }
  // The call may have waited for the first one.
  const token = await call.confirmToken();
  const concerns = stored.concerns === null ? {} : { concerns: stored.concerns };
  if (stored.kind === 'none') return { reply: { kind: 'none', ...concerns }, isReplayed: true };
  const data = stored.had_secret
    ? { ...stored.data, secret: await secretOf(store, claim, stored, token, endpoint) }
    : (stored.data ?? {});
  const body = { data, ...concerns, ...(stored.etag === null ? {} : { etag: stored.etag }) };
  const reply: Reply =
    stored.kind === 'created'
      ? { kind: 'created', location: stored.location ?? '', ...body }
      : { kind: 'one', ...body };
  return { reply, isReplayed: true };
}

async function secretOf(
  store: IdempotencyStore,
  claim: KeyClaim,
  stored: StoredKey,
  token: CallerToken,
  endpoint: KeyedEndpoint,
): Promise<string> {
  const id = resourceIdOf(stored);
  const isThere = (await endpoint.requireSecretOf?.(token, id)) ?? true;
  const sealed = isThere ? await takeSecret(store.db, claim) : undefined;
  try {
    if (sealed !== undefined) return store.vault.open(sealed, ownerOf(claim));
  } catch (error) {
    if (!(error instanceof SecretUnreadableError)) throw error;
  }
  throw new GatewayError(
    'idempotency_secret_gone',
    `The call ${stored.request_id} with this idempotency key succeeded, and the secret of its token ${id} is not shown again. ` +
      `Get a new secret with POST /v1/tokens/${id}/rotate and another key.`,
  );
}

function resourceIdOf({ data }: StoredKey): string {
  const { id = '' } = data as { id?: string };
  return id;
}

function inProgress(): GatewayError {
  return new GatewayError(
    'idempotency_in_progress',
    'The first call with this idempotency key has not ended yet.',
    { headers: { 'retry-after': '1' } },
  );
}
