import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { deriveKey, type MasterKey } from '../config/master-keys.ts';
import { pointerSchema, snapshotSchema, type Snapshot, type SnapshotPointer } from './schema.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** The largest snapshot that is unpacked; a larger one is refused rather than filling the memory. */
export const MAX_SNAPSHOT_BYTES = 512 * 1024 * 1024;

/** Of what anybody may have written. */
const MAX_SHOWN_KEY_ID_CHARS = 32;

/** A snapshot or pointer that must not be used. The message says why, without any of its content. */
export class SnapshotRefusedError extends Error {
  override readonly name = 'SnapshotRefusedError';
}

export interface SealedSnapshot {
  readonly pointer: SnapshotPointer;
  /** gzip of the snapshot's JSON. */
  readonly bytes: Uint8Array;
}

/** Packs and signs a snapshot with the newest master key. */
export async function sealSnapshot(
  snapshot: Snapshot,
  object: string,
  keys: readonly MasterKey[],
): Promise<SealedSnapshot> {
  const key = keys[0];
  if (key === undefined) throw new Error('GATEWAY_MASTER_KEYS holds no key to sign with');
  const bytes = await compress(JSON.stringify(snapshot), { level: 1 });
  const unsigned = {
    environment: snapshot.environment,
    version: snapshot.version,
    object,
    sha256: sha256(bytes),
    key_id: key.id,
  };
  const signature = createHmac('sha256', signingKey(key))
    .update(signedText(unsigned))
    .digest('hex');
  return { pointer: { ...unsigned, signature }, bytes };
}

/**
 * Reads a pointer and proves that a holder of a master key made it: write access to NATS alone is
 * not enough to inject a route.
 *
 * @throws SnapshotRefusedError where it is malformed, of an unknown key, or its signature is wrong.
 */
export function openPointer(
  text: string,
  environment: string,
  keys: readonly MasterKey[],
): SnapshotPointer {
  const parsed = pointerSchema.safeParse(parseJson(text, 'pointer'));
  if (!parsed.success) throw new SnapshotRefusedError('the pointer is malformed');
  const pointer = parsed.data;
  const key = keys.find((candidate) => candidate.id === pointer.key_id);
  if (key === undefined) {
    const keyId = pointer.key_id.slice(0, MAX_SHOWN_KEY_ID_CHARS);
    throw new SnapshotRefusedError(
      `the pointer is signed with the key ${keyId}, which GATEWAY_MASTER_KEYS lacks`,
    );
  }
  const expected = createHmac('sha256', signingKey(key)).update(signedText(pointer)).digest();
  if (!timingSafeEqual(expected, Buffer.from(pointer.signature, 'hex'))) {
    throw new SnapshotRefusedError('the signature of the pointer does not verify');
  }
  if (pointer.environment !== environment) {
    throw new SnapshotRefusedError('the pointer is of another environment');
  }
  return pointer;
}

/**
 * Unpacks the object that a proven pointer names.
 *
 * @throws SnapshotRefusedError where the bytes are not those that the pointer names, or no snapshot.
 */
export async function openSnapshot(pointer: SnapshotPointer, bytes: Uint8Array): Promise<Snapshot> {
  if (sha256(bytes) !== pointer.sha256) {
    throw new SnapshotRefusedError('the bytes are not those that the pointer names');
  }
  const text = await decompress(bytes, { maxOutputLength: MAX_SNAPSHOT_BYTES }).catch(
    (cause: unknown) => {
      throw new SnapshotRefusedError('the snapshot cannot be unpacked', { cause });
    },
  );
  const parsed = snapshotSchema.safeParse(parseJson(text.toString('utf8'), 'snapshot'));
  if (!parsed.success) {
    const where = parsed.error.issues[0]?.path.join('.') ?? '';
    throw new SnapshotRefusedError(`the snapshot does not hold at ${where}`);
  }
  const snapshot = parsed.data;
  if (snapshot.environment !== pointer.environment || snapshot.version !== pointer.version) {
    throw new SnapshotRefusedError('the snapshot is not the one that the pointer names');
  }
  return snapshot;
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SnapshotRefusedError(`the ${what} is no JSON`, { cause });
  }
}

function signingKey(key: MasterKey): Buffer {
  return deriveKey(key, 'snapshot-signature');
}

/** JSON of an array, so that no value can run into its neighbour. */
function signedText(pointer: Omit<SnapshotPointer, 'signature'>): string {
  const { environment, version, object, sha256: digest, key_id: keyId } = pointer;
  return JSON.stringify([environment, version, object, digest, keyId]);
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
