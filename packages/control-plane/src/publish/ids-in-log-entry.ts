import { isDeepStrictEqual } from 'node:util';
import type { VerifiedEntry } from '@gateway/shared/snapshot/signed-log-entry';
import type { ChangedConfiguration } from '../configuration/store/changed-rows.ts';
import { compileDelta, type DeltaOptions } from './compile-delta.ts';

/** The parts of a delta. */
const PARTS = ['services', 'routes', 'tokens'] as const;

/**
 * Finds the pending changes that the last entry of the log contains: a publisher wrote it, and was interrupted before
 * Postgres knew, by a crash or a failover. To mark them as published is enough.
 *
 * Empty unless the entry continues from the version that Postgres knows, and everything in it is pending and still as the
 * entry has it. After a restore of Postgres the entry may contain what Postgres has lost.
 *
 * @returns the ids of the changes
 */
export function idsInLogEntry(
  entry: VerifiedEntry['entry'] | undefined,
  { configVersion, pending, changed }: ChangedConfiguration,
  compiled: Pick<DeltaOptions, 'nowMs' | 'reservedHosts'>,
): readonly string[] {
  if (entry?.kind !== 'delta' || entry.from !== configVersion || changed === undefined) return [];
  // What it has of an element that was not compiled cannot be compared; another publication does no harm.
  if (entry.unreadable !== undefined) return [];
  const { from, version, since } = entry;
  const now = compileDelta(changed, { from, version, since, ...compiled });
  for (const part of PARTS) {
    const present = statesOf(now[part]);
    for (const [entityId, state] of statesOf(entry[part])) {
      if (!present.has(entityId) || !isDeepStrictEqual(present.get(entityId), state)) return [];
    }
  }
  // Not every pending change of these entities: another publisher may have appended a later one meanwhile.
  const ids = new Set(entry.changes);
  return pending.map(({ id }) => id).filter((id) => ids.has(id));
}

/** Each entity as data planes get it, or undefined if it is removed. */
function statesOf(part: {
  readonly put: readonly { readonly id: string }[];
  readonly remove: readonly string[];
}): ReadonlyMap<string, unknown> {
  return new Map<string, unknown>([
    ...part.put.map((entity) => [entity.id, JSON.parse(JSON.stringify(entity))] as const),
    ...part.remove.map((id) => [id, undefined] as const),
  ]);
}
