import { z } from 'zod';
import { formatField } from '../formats.ts';
import type { UnreadableElement } from './read-element.ts';
import {
  SNAPSHOT_FORMAT,
  type SnapshotRoute,
  type SnapshotService,
  type SnapshotToken,
} from './schema.ts';

const changesSchema = z.object({
  /** Not validated yet: an invalid one does not concern the others. */
  put: z.array(z.unknown()),
  remove: z.array(z.string()),
});

/** The changes from one version to a later one, as they are published. */
const publishedDeltaSchema = z.object({
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
  services: changesSchema,
  routes: changesSchema,
  tokens: changesSchema,
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
  .discriminatedUnion('kind', [publishedDeltaSchema, snapshotEntrySchema])
  .refine((entry) => entry.kind === 'snapshot' || entry.from < entry.version, {
    message: 'must be less than version',
    path: ['from'],
  });

/** Changes of elements of one kind. */
export interface ElementChanges<Element> {
  /** Added; an element with the same id is replaced. */
  readonly put: readonly Element[];
  /** Ids to remove. An id that does not exist is not an error. */
  readonly remove: readonly string[];
}

export type PublishedDelta = z.infer<typeof publishedDeltaSchema>;

/** The changes from one version to a later one, without the elements that this version of the program cannot read. */
export interface Delta extends Omit<PublishedDelta, 'services' | 'routes' | 'tokens'> {
  readonly services: ElementChanges<SnapshotService>;
  readonly routes: ElementChanges<SnapshotRoute>;
  readonly tokens: ElementChanges<SnapshotToken>;
  /** Each replaces the element with its id. */
  readonly unreadable?: readonly UnreadableElement[];
}

export type SnapshotEntry = z.infer<typeof snapshotEntrySchema>;
/** What is sealed. */
export type LogEntry = z.input<typeof logEntrySchema> | Delta | SnapshotEntry;
