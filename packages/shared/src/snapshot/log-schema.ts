import { z } from 'zod';
import { formatSchema, routeSchema, serviceSchema, tokenSchema } from './schema.ts';

/**
 * An entry of an environment's log, of which each makes one version out of the one before it. The
 * server takes an entry only behind the one that its writer has seen, so there is one line of versions.
 *
 * A kind or a format that a data plane does not know is refused by it, as a snapshot of such a format
 * is, and it serves on what it has.
 */
const changesOf = <T extends z.ZodType>(entity: T) =>
  z.object({
    /** New, or in the place of what had this id. */
    put: z.array(entity),
    /** Ids; one that is not there is no mistake. */
    remove: z.array(z.string()),
  });

export const deltaSchema = z.object({
  kind: z.literal('delta'),
  format: formatSchema,
  environment: z.string(),
  /** What it applies to, and nothing else. */
  from: z.int().min(1),
  version: z.int().min(1),
  /** The snapshot that this line of deltas began with, and how many deltas and bytes came since, this one included. */
  since: z.object({ snapshot: z.int(), deltas: z.int(), bytes: z.int() }),
  services: changesOf(serviceSchema),
  routes: changesOf(routeSchema),
  tokens: changesOf(tokenSchema),
});

/** Announces a version that only a snapshot makes. The snapshot's pointer is in the bucket of pointers. */
export const snapshotEntrySchema = z.object({
  kind: z.literal('snapshot'),
  environment: z.string(),
  version: z.int().min(1),
  /** Signature of the pointer that belongs to this entry. */
  pointer_signature: z.string(),
});

export const logEntrySchema = z
  .discriminatedUnion('kind', [deltaSchema, snapshotEntrySchema])
  .refine((entry) => entry.kind === 'snapshot' || entry.from < entry.version, {
    message: 'a delta goes forward',
    path: ['from'],
  });

export type Delta = z.infer<typeof deltaSchema>;
export type SnapshotEntry = z.infer<typeof snapshotEntrySchema>;
export type LogEntry = z.infer<typeof logEntrySchema>;
