import type { Clock } from '@gateway/shared/clock';
import { NAMES } from '@gateway/shared/messaging/names';
import type { JetStreamManager } from '@nats-io/jetstream';
import { z } from 'zod';
import { orAborted } from '../nats/await-link.ts';
import type { NatsLink } from '../nats/nats-link.ts';

/** Reads an object of the snapshot bucket. Rejects if it is missing, or if NATS does not deliver it in time. */
export type ReadSnapshotObject = (object: string, signal: AbortSignal) => Promise<Uint8Array>;

const STREAM = `OBJ_${NAMES.snapshotBucket}`;
const META_PREFIX = `$O.${NAMES.snapshotBucket}.M.`;
const CHUNK_PREFIX = `$O.${NAMES.snapshotBucket}.C.`;
/** For the whole object. The messages that arrive meanwhile wait for it. */
const READ_TIMEOUT_MS = 30_000;
/** Compressed. A client that may write to NATS must not be able to fill the memory of a data plane. */
const MAX_PACKED_BYTES = 128 * 1024 * 1024;

/** Metadata of an object (the layout of NATS object stores, NATS ADR-20). */
const metaSchema = z.object({
  nuid: z.string().regex(/^[A-Za-z0-9]{1,64}$/),
  size: z.int().min(0).max(MAX_PACKED_BYTES),
  deleted: z.boolean().optional(),
});

/**
 * Reads snapshots from the object store, message by message. The client's own reader leaves a consumer on
 * the server for minutes after each object, and waits for a missing chunk without limit.
 */
export function createSnapshotReader(link: NatsLink, clock: Clock): ReadSnapshotObject {
  async function read(object: string, signal: AbortSignal): Promise<Uint8Array> {
    const manager = await link.jetstream?.manager;
    if (manager === undefined) throw new Error('NATS is away');
    const endMs = clock.monotonicMs() + READ_TIMEOUT_MS;
    const meta = await readMeta(manager, object);
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (let sequence = 1; size < meta.size;) {
      signal.throwIfAborted();
      if (clock.monotonicMs() > endMs) throw new Error('the snapshot did not arrive in time');
      const query = { seq: sequence, next_by_subj: CHUNK_PREFIX + meta.nuid };
      const message = await manager.streams.getMessage(STREAM, query);
      // The client decodes `data` at each access.
      const chunk = message?.data;
      if (message === null || chunk === undefined || chunk.length === 0) {
        throw new Error('a chunk of the snapshot is not in the object store');
      }
      chunks.push(chunk);
      size += chunk.length;
      sequence = message.seq + 1;
    }
    return Buffer.concat(chunks, size);
  }

  return (object, signal) => orAborted(read(object, signal), signal);
}

async function readMeta(
  manager: JetStreamManager,
  object: string,
): Promise<z.infer<typeof metaSchema>> {
  const subject = META_PREFIX + encodeName(object);
  const message = await manager.streams.getMessage(STREAM, { last_by_subj: subject });
  const meta = message === null ? undefined : metaSchema.parse(message.json());
  if (meta === undefined || meta.deleted === true) {
    throw new Error('the snapshot is not in the object store');
  }
  return meta;
}

/** Subjects hold names as base64url with padding (NATS ADR-20). */
function encodeName(name: string): string {
  const text = Buffer.from(name, 'utf8').toString('base64url');
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=');
}
