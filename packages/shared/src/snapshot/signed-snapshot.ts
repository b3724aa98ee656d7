import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { deriveKey, type MasterKey } from '../config/master-keys.ts';
import { z } from 'zod';
import { runPaced, UNPACED, type Pace } from '../pace.ts';
import { ELEMENT_KINDS, ElementReader, type UnreadableElement } from './read-element.ts';
import {
  pointerSchema,
  SNAPSHOT_FORMAT,
  snapshotHeadSchema,
  type Snapshot,
  type SnapshotPointer,
} from './schema.ts';
import { splitJson } from './split-json.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** The largest snapshot that is decompressed. A larger one is refused before it fills the memory. */
export const MAX_SNAPSHOT_BYTES = 512 * 1024 * 1024;

/** The arrays of a snapshot, which are parsed element by element. */
const ELEMENTS: ReadonlySet<string> = new Set(ELEMENT_KINDS.map((kind) => `${kind}s`));

/** How much of an unverified key id an error message shows. */
const MAX_SHOWN_KEY_ID_CHARS = 32;

/** A snapshot without the elements that this version of the program cannot read. */
export interface ReadSnapshot extends Snapshot {
  readonly unreadable?: readonly UnreadableElement[];
}

/** A snapshot, pointer or log entry that must not be used. The message says why, without any of its content. */
export class SnapshotRefusedError extends Error {
  override readonly name = 'SnapshotRefusedError';
}

export interface SealedSnapshot {
  readonly pointer: SnapshotPointer;
  /** The snapshot's JSON, compressed with gzip. */
  readonly bytes: Uint8Array;
}

/** The fields of the pointer that its caller sets. */
export interface SnapshotName {
  readonly environment: string;
  readonly version: number;
  readonly object: string;
}

/** Compresses a snapshot and signs it with the newest master key. */
export function sealSnapshot(
  snapshot: Snapshot,
  object: string,
  keys: readonly MasterKey[],
): Promise<SealedSnapshot> {
  const { environment, version } = snapshot;
  return sealSnapshotText(JSON.stringify(snapshot), { environment, version, object }, keys);
}

/** Like `sealSnapshot`, for a snapshot that is already JSON. */
export async function sealSnapshotText(
  text: string,
  name: SnapshotName,
  keys: readonly MasterKey[],
): Promise<SealedSnapshot> {
  const key = keys[0];
  if (key === undefined) throw new Error('GATEWAY_MASTER_KEYS has no key to sign with');
  const bytes = await compress(text, { level: 1 });
  const { environment, version, object } = name;
  const unsigned = {
    format: SNAPSHOT_FORMAT,
    environment,
    version,
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
 * Reads a pointer and verifies its signature: write access to NATS alone is not enough to inject a route.
 *
 * @throws SnapshotRefusedError if it is malformed, its signature is wrong, or its key is unknown
 */
export function openPointer(
  text: string,
  environment: string,
  keys: readonly MasterKey[],
): SnapshotPointer {
  const pointer = parseSigned(pointerSchema, text, 'pointer');
  const key = requireKey(pointer.key_id, keys, 'pointer');
  const expected = createHmac('sha256', signingKey(key)).update(signedText(pointer)).digest();
  if (!timingSafeEqual(expected, Buffer.from(pointer.signature, 'hex'))) {
    throw new SnapshotRefusedError('the signature of the pointer is wrong');
  }
  if (pointer.environment !== environment) {
    throw new SnapshotRefusedError('the pointer belongs to another environment');
  }
  return pointer;
}

/**
 * Decompresses and validates the object of a verified pointer. An element that cannot be read does not concern the
 * others.
 *
 * @param pace called between elements
 * @throws SnapshotRefusedError if the pointer has the hash of other bytes, or the bytes are not a valid snapshot
 */
export async function openSnapshot(
  pointer: SnapshotPointer,
  bytes: Uint8Array,
  pace: Pace = UNPACED,
): Promise<ReadSnapshot> {
  if (sha256(bytes) !== pointer.sha256) {
    throw new SnapshotRefusedError('the hash of the snapshot is not the one in its pointer');
  }
  const text = await decompress(bytes, { maxOutputLength: MAX_SNAPSHOT_BYTES }).catch(
    (cause: unknown) => {
      throw new SnapshotRefusedError('the snapshot cannot be decompressed', { cause });
    },
  );
  const { rest, arrays } = await runPaced(splitJson(text, ELEMENTS), pace);
  const head = parseSigned(snapshotHeadSchema, rest, 'snapshot');
  if (head.environment !== pointer.environment || head.version !== pointer.version) {
    throw new SnapshotRefusedError(
      'the snapshot has another environment or version than its pointer',
    );
  }
  const elements = new ElementReader();
  for (const kind of ELEMENT_KINDS) {
    const ranges = arrays.get(`${kind}s`);
    // The name of the list is written with escapes.
    if (ranges === undefined) {
      throw new SnapshotRefusedError(`the snapshot has no list of ${kind}s`);
    }
    for (const [start, end] of ranges) {
      const turn = pace();
      if (turn !== undefined) await turn;
      const element = parseJson(text.toString('utf8', start, end), 'snapshot');
      refuseInvalid(`snapshot: ${kind}s`, () => elements.read(kind, element));
    }
  }
  const { unreadable, ...read } = elements.result();
  return { ...head, ...read, ...(unreadable.length > 0 && { unreadable }) };
}

/** @throws SnapshotRefusedError if the text is not JSON, or not valid by the schema */
export function parseSigned<T>(schema: z.ZodType<T>, text: string, what: string): T {
  const value = parseJson(text, what);
  return refuseInvalid(what, () => schema.parse(value));
}

/** @throws SnapshotRefusedError if `parse` throws a ZodError */
export function refuseInvalid<T>(what: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const [issue] = error.issues;
    const where = issue?.path.join('.') ?? '';
    throw new SnapshotRefusedError(`invalid ${what}: ${where} ${issue?.message ?? ''}`);
  }
}

/** @throws SnapshotRefusedError if there is no such key */
export function requireKey(id: string, keys: readonly MasterKey[], what: string): MasterKey {
  const key = keys.find((candidate) => candidate.id === id);
  if (key !== undefined) return key;
  const shown = id.slice(0, MAX_SHOWN_KEY_ID_CHARS);
  throw new SnapshotRefusedError(
    `the ${what} is signed with the key ${shown}, which GATEWAY_MASTER_KEYS lacks`,
  );
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SnapshotRefusedError(`invalid ${what}: it is not JSON`, { cause });
  }
}

function signingKey(key: MasterKey): Buffer {
  return deriveKey(key, 'snapshot-signature');
}

/** A JSON array, so that the boundaries between the values are signed as well. */
function signedText(pointer: Omit<SnapshotPointer, 'signature'>): string {
  const { format, environment, version, object, sha256: digest, key_id: keyId } = pointer;
  return JSON.stringify([format, environment, version, object, digest, keyId]);
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
