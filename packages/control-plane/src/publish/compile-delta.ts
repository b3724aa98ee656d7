import type { Delta, PublishedDelta } from '@gateway/shared/snapshot/log-schema';
import { SNAPSHOT_FORMAT } from '@gateway/shared/snapshot/schema';
import type { ChangedRows } from '../configuration/store/changed-rows.ts';
import { byId, compileRoute, compileService, compileToken } from './compile.ts';

export interface DeltaOptions {
  /** The version that the delta applies to. */
  readonly from: number;
  readonly version: number;
  readonly since: Delta['since'];
  /** As for a snapshot; ms since the Unix epoch. */
  readonly nowMs: number;
  /** As for a snapshot. */
  readonly reservedHosts: readonly string[];
}

interface CompiledPart {
  readonly put: { readonly id: string }[];
  readonly remove: string[];
}

/** A delta to be published: of an element that does not compile, it has only what names it. */
export type CompiledDelta = PublishedDelta &
  Readonly<Record<'services' | 'routes' | 'tokens', CompiledPart>>;

/**
 * Compiles the changed rows of an environment to a delta. It contains the present state of each entity,
 * so applying a delta twice is harmless. What a snapshot would omit is removed.
 */
export function compileDelta(changed: ChangedRows, options: DeltaOptions): CompiledDelta {
  const { environment } = changed;
  const { nowMs, reservedHosts, ...versions } = options;
  return {
    kind: 'delta',
    format: SNAPSHOT_FORMAT,
    environment,
    ...versions,
    services: partOf(changed.services, compileService),
    routes: partOf(changed.routes, (row) => compileRoute(row, reservedHosts)),
    tokens: partOf(changed.tokens, (row) => compileToken(row, environment, nowMs)),
  };
}

function partOf<Row extends { readonly id: string }>(
  { ids, rows }: { readonly ids: readonly string[]; readonly rows: readonly Row[] },
  compile: (row: Row) => { readonly id: string } | undefined,
): CompiledPart {
  const put = byId(rows)
    .map(compile)
    .filter((served) => served !== undefined);
  const kept = new Set(put.map(({ id }) => id));
  return { put, remove: ids.filter((id) => !kept.has(id)).toSorted() };
}
