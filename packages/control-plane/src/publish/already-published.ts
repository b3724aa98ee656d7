import { isDeepStrictEqual } from 'node:util';
import type { LogEntry } from '@gateway/shared/snapshot/log-schema';
import type { ChangedConfiguration } from '../store/configuration/changed-rows.ts';
import { compileDelta } from './compile-delta.ts';

/** The parts of a delta, by the kind of change that they contain. */
const PARTS = { service: 'services', route: 'routes', token: 'tokens' } as const;

/**
 * Finds the pending changes that the last entry of the log contains: a publisher wrote it, and was interrupted before
 * Postgres knew, by a crash or a failover. To mark them as published is enough.
 *
 * Empty unless the entry continues from the version that Postgres knows, and everything in it is pending and still as the
 * entry has it. After a restore of Postgres the entry may contain what Postgres has lost.
 *
 * @returns the ids of the changes
 */
export function alreadyPublished(
  entry: LogEntry | undefined,
  { configVersion, pending, changed }: ChangedConfiguration,
  nowMs: number,
): readonly string[] {
  if (entry?.kind !== 'delta' || entry.from !== configVersion || changed === undefined) return [];
  const { from, version, since } = entry;
  const now = compileDelta(changed, { from, version, since, nowMs });
  const ids: string[] = [];
  for (const [kind, part] of Object.entries(PARTS)) {
    const present = statesOf(now[part]);
    const published = statesOf(entry[part]);
    for (const [entityId, state] of published) {
      if (!present.has(entityId) || !isDeepStrictEqual(present.get(entityId), state)) return [];
    }
    for (const change of pending) {
      if (change.kind === kind && published.has(change.entityId)) ids.push(change.id);
    }
  }
  return ids;
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
