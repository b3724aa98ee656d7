import { z } from 'zod';
import { formatField } from '../formats.ts';
import { routeSchema, serviceSchema, SNAPSHOT_FORMAT, tokenSchema } from './schema.ts';

const changesOf = <T extends z.ZodType>(entity: T) =>
  z.object({
    /** Added; an entity with the same id is replaced. */
    put: z.array(entity),
    /** Ids to remove. An id that does not exist is not an error. */
    remove: z.array(z.string()),
  });

/** The changes from one version to a later one. */
export const deltaSchema = z.object({
  kind: z.literal('delta'),
  format: formatField(SNAPSHOT_FORMAT),
  environment: z.string(),
  /** The version that it applies to; it applies to no other. */
  from: z.int().min(1),
  version: z.int().min(1),
  /** The version of the last snapshot in the log, and how many deltas and bytes followed it, this one included. */
  since: z.object({ snapshot: z.int(), deltas: z.int(), bytes: z.int() }),
  /** The ids of the changes in the outbox that it contains, by which a control plane finds out that they are published. */
  changes: z.array(z.string()).optional(),
  services: changesOf(serviceSchema),
  routes: changesOf(routeSchema),
  tokens: changesOf(tokenSchema),
});

/** Announces a version that only a snapshot makes. The snapshot's pointer is in the bucket of pointers. */
export const snapshotEntrySchema = z.object({
  kind: z.literal('snapshot'),
  format: formatField(SNAPSHOT_FORMAT),
  environment: z.string(),
  version: z.int().min(1),
  /** Signature of the pointer that belongs to this entry. */
  pointer_signature: z.string(),
});

/**
 * An entry of an environment's log. Each entry makes one version out of the previous one. The NATS server
 * accepts an entry only directly after the one that its writer has read, so the versions form one sequence.
 * A data plane refuses an entry of an unknown kind or format and keeps the configuration that it has.
 */
export const logEntrySchema = z
  .discriminatedUnion('kind', [deltaSchema, snapshotEntrySchema])
  .refine((entry) => entry.kind === 'snapshot' || entry.from < entry.version, {
    message: 'must be less than version',
    path: ['from'],
  });

export type Delta = z.infer<typeof deltaSchema>;
export type SnapshotEntry = z.infer<typeof snapshotEntrySchema>;
export type LogEntry = z.infer<typeof logEntrySchema>;
