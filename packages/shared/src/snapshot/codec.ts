import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { deriveKey, type MasterKey } from '../config/master-keys.ts';
import type { z } from 'zod';
import { UNPACED, type Pace } from '../pace.ts';
import {
  pointerSchema,
  routeSchema,
  serviceSchema,
  snapshotHeadSchema,
  tokenSchema,
  type Snapshot,
  type SnapshotPointer,
} from './schema.ts';

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

/** What a snapshot's text is packed and signed as. */
export interface SnapshotName {
  readonly environment: string;
  readonly version: number;
  readonly object: string;
}

/** Packs and signs a snapshot with the newest master key. */
export function sealSnapshot(
  snapshot: Snapshot,
  object: string,
  keys: readonly MasterKey[],
): Promise<SealedSnapshot> {
  const { environment, version } = snapshot;
  return sealSnapshotText(JSON.stringify(snapshot), { environment, version, object }, keys);
}

/** As `sealSnapshot`, of the text of a snapshot. */
export async function sealSnapshotText(
  text: string,
  name: SnapshotName,
  keys: readonly MasterKey[],
): Promise<SealedSnapshot> {
  const key = keys[0];
  if (key === undefined) throw new Error('GATEWAY_MASTER_KEYS holds no key to sign with');
  const bytes = await compress(text, { level: 1 });
  const { environment, version, object } = name;
  const unsigned = { environment, version, object, sha256: sha256(bytes), key_id: key.id };
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
  const key = requireKey(pointer.key_id, keys, 'pointer');
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
 * @param pace between elements; only the parse of the JSON is one step
 * @throws SnapshotRefusedError where the bytes are not those that the pointer names, or no snapshot.
 */
export async function openSnapshot(
  pointer: SnapshotPointer,
  bytes: Uint8Array,
  pace: Pace = UNPACED,
): Promise<Snapshot> {
  if (sha256(bytes) !== pointer.sha256) {
    throw new SnapshotRefusedError('the bytes are not those that the pointer names');
  }
  const text = await decompress(bytes, { maxOutputLength: MAX_SNAPSHOT_BYTES }).catch(
    (cause: unknown) => {
      throw new SnapshotRefusedError('the snapshot cannot be unpacked', { cause });
    },
  );
  const head = parseSigned(snapshotHeadSchema, text.toString('utf8'), 'snapshot');
  if (head.environment !== pointer.environment || head.version !== pointer.version) {
    throw new SnapshotRefusedError('the snapshot is not the one that the pointer names');
  }
  return {
    ...head,
    services: await parseEach(serviceSchema, head.services, 'services', pace),
    routes: await parseEach(routeSchema, head.routes, 'routes', pace),
    tokens: await parseEach(tokenSchema, head.tokens, 'tokens', pace),
  };
}

async function parseEach<T>(
  schema: z.ZodType<T>,
  elements: readonly unknown[],
  what: string,
  pace: Pace,
): Promise<T[]> {
  const parsed: T[] = [];
  for (const [index, element] of elements.entries()) {
    const turn = pace();
    if (turn !== undefined) await turn;
    parsed.push(parseHeld(schema, element, 'snapshot', [what, index]));
  }
  return parsed;
}

/** @throws SnapshotRefusedError where the text is no JSON, or not what the schema says. */
export function parseSigned<T>(schema: z.ZodType<T>, text: string, what: string): T {
  return parseHeld(schema, parseJson(text, what), what, []);
}

function parseHeld<T>(
  schema: z.ZodType<T>,
  value: unknown,
  what: string,
  at: readonly (string | number)[],
): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const where = [...at, ...(parsed.error.issues[0]?.path ?? [])].join('.');
  throw new SnapshotRefusedError(`the ${what} does not hold at ${where}`);
}

/** @throws SnapshotRefusedError where there is no such key. */
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
