import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { deriveKey, type MasterKey } from '../config/master-keys.ts';
import { ATTEMPT_DIGITS } from '../messaging/names.ts';
import { parseSigned, requireKey, SnapshotRefusedError } from './codec.ts';
import { logEntrySchema, type LogEntry } from './log-schema.ts';

/** An entry whose signature verified. */
export interface ProvenEntry {
  readonly entry: LogEntry;
  /** Tells it from every other entry. */
  readonly id: string;
  readonly keyId: string;
}

const claimSchema = z.object({ version: z.int() });

const HEAD = /^([A-Za-z0-9_-]{1,64}) ([0-9a-f]{64})\n/;
const HEAD_CHARS = 130;

/** The bytes of an entry: the key's id and the signature on a line, then JSON. */
export function sealLogEntry(entry: LogEntry, keys: readonly MasterKey[]): Uint8Array {
  const key = keys[0];
  if (key === undefined) throw new Error('GATEWAY_MASTER_KEYS holds no key to sign with');
  const json = Buffer.from(JSON.stringify(entry));
  return Buffer.concat([Buffer.from(`${key.id} ${sign(key, json).toString('hex')}\n`), json]);
}

/**
 * Proves that a holder of a master key made an entry, and reads it.
 *
 * @throws SnapshotRefusedError where it is malformed, of an unknown key, or its signature is wrong.
 */
export function openLogEntry(
  bytes: Uint8Array,
  environment: string,
  keys: readonly MasterKey[],
): ProvenEntry {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [head, keyId, signature] = HEAD.exec(buffer.toString('latin1', 0, HEAD_CHARS)) ?? [];
  if (head === undefined || keyId === undefined || signature === undefined) {
    throw new SnapshotRefusedError('the entry is malformed');
  }
  const json = buffer.subarray(head.length);
  const expected = sign(requireKey(keyId, keys, 'entry'), json);
  if (!timingSafeEqual(expected, Buffer.from(signature, 'hex'))) {
    throw new SnapshotRefusedError('the signature of the entry does not verify');
  }
  const entry = parseSigned(logEntrySchema, json.toString('utf8'), 'entry');
  if (entry.environment !== environment) {
    throw new SnapshotRefusedError('the entry is of another environment');
  }
  return { entry, id: signature.slice(0, ATTEMPT_DIGITS), keyId };
}

/**
 * The version that an entry says it makes, proven or not: good for leaving alone what is old, and for
 * nothing else. undefined where it says none.
 */
export function claimedVersion(sealed: Uint8Array): number | undefined {
  const text = Buffer.from(sealed).toString('utf8');
  try {
    const claim = claimSchema.safeParse(JSON.parse(text.slice(text.indexOf('\n') + 1)));
    return claim.data?.version;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** With a key of its own purpose, so that neither a pointer nor a part of it can pass for an entry. */
function sign(key: MasterKey, json: Uint8Array): Buffer {
  return createHmac('sha256', deriveKey(key, 'config-log-signature')).update(json).digest();
}
