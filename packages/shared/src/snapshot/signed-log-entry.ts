import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { deriveKey, type MasterKey } from '../config/master-keys.ts';
import { ATTEMPT_DIGITS } from '../messaging/names.ts';
import {
  logEntrySchema,
  type Delta,
  type LogEntry,
  type PublishedDelta,
  type SnapshotEntry,
} from './log-schema.ts';
import { ELEMENT_KINDS, ElementReader } from './read-element.ts';
import { parseSigned, refuseInvalid, requireKey, SnapshotRefusedError } from './signed-snapshot.ts';

/** An entry whose signature is verified. */
export interface VerifiedEntry {
  readonly entry: Delta | SnapshotEntry;
  /** Different for every entry. */
  readonly id: string;
  readonly keyId: string;
}

const claimSchema = z.object({ version: z.int() });

const HEAD = /^([A-Za-z0-9_-]{1,64}) ([0-9a-f]{64})\n/;
const HEAD_CHARS = 130;

/** Encodes an entry: a line with the key's id and the signature, then JSON. */
export function sealLogEntry(entry: LogEntry, keys: readonly MasterKey[]): Uint8Array {
  const key = keys[0];
  if (key === undefined) throw new Error('GATEWAY_MASTER_KEYS has no key to sign with');
  const json = Buffer.from(JSON.stringify(entry));
  return Buffer.concat([Buffer.from(`${key.id} ${sign(key, json).toString('hex')}\n`), json]);
}

/**
 * Verifies the signature of an entry and reads it.
 *
 * @throws SnapshotRefusedError if it is malformed, its signature is wrong, or its key is unknown
 */
export function openLogEntry(
  bytes: Uint8Array,
  environment: string,
  keys: readonly MasterKey[],
): VerifiedEntry {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [head, keyId, signature] = HEAD.exec(buffer.toString('latin1', 0, HEAD_CHARS)) ?? [];
  if (head === undefined || keyId === undefined || signature === undefined) {
    throw new SnapshotRefusedError('invalid log entry: it has no signature');
  }
  const json = buffer.subarray(head.length);
  const expected = sign(requireKey(keyId, keys, 'log entry'), json);
  if (!timingSafeEqual(expected, Buffer.from(signature, 'hex'))) {
    throw new SnapshotRefusedError('the signature of the log entry is wrong');
  }
  const entry = parseSigned(logEntrySchema, json.toString('utf8'), 'log entry');
  if (entry.environment !== environment) {
    throw new SnapshotRefusedError('the log entry belongs to another environment');
  }
  const id = signature.slice(0, ATTEMPT_DIGITS);
  return { entry: entry.kind === 'delta' ? readDelta(entry) : entry, id, keyId };
}

function readDelta(published: PublishedDelta): Delta {
  const elements = new ElementReader();
  for (const kind of ELEMENT_KINDS) {
    for (const element of published[`${kind}s`].put) {
      refuseInvalid(`log entry: ${kind}s`, () => elements.read(kind, element));
    }
  }
  const { unreadable, ...read } = elements.result();
  const { services, routes, tokens } = published;
  return {
    ...published,
    services: { put: read.services, remove: services.remove },
    routes: { put: read.routes, remove: routes.remove },
    tokens: { put: read.tokens, remove: tokens.remove },
    ...(unreadable.length > 0 && { unreadable }),
  };
}

/**
 * The version in an entry, without checking the signature: use it only to skip entries that are old.
 * Undefined if the entry has none.
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

/** The key is derived for entries only, so that the signature of a pointer is never valid for an entry. */
function sign(key: MasterKey, json: Uint8Array): Buffer {
  return createHmac('sha256', deriveKey(key, 'config-log-signature')).update(json).digest();
}
