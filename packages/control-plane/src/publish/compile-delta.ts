import type { Delta } from '@gateway/shared/snapshot/log-schema';
import { SNAPSHOT_FORMAT } from '@gateway/shared/snapshot/schema';
import type { ChangedRows } from '../store/configuration/changed-rows.ts';
import { byId, compileRoute, compileService, compileToken } from './compile.ts';

export interface DeltaOptions {
  /** The version that it applies to, which all these changes are younger than. */
  readonly from: number;
  readonly version: number;
  readonly since: Delta['since'];
  /** As for a snapshot; ms since the Unix epoch. */
  readonly nowMs: number;
}

/**
 * Makes of the changed rows of an environment what its data planes are to do: each entity is told of as
 * it is now, whatever happened to it in between, so that a change which is told twice does no harm. What
 * a snapshot would leave out is removed.
 *
 * @throws ZodError where a row cannot be served, so that nothing of it is published.
 */
export function compileDelta(changed: ChangedRows, options: DeltaOptions): Delta {
  const { environment } = changed;
  const { nowMs, ...versions } = options;
  return {
    kind: 'delta',
    format: SNAPSHOT_FORMAT,
    environment,
    ...versions,
    services: partOf(changed.services, compileService),
    routes: partOf(changed.routes, compileRoute),
    tokens: partOf(changed.tokens, (row) => compileToken(row, environment, nowMs)),
  };
}

function partOf<Row extends { readonly id: string }, Served extends { readonly id: string }>(
  { ids, rows }: { readonly ids: readonly string[]; readonly rows: readonly Row[] },
  compile: (row: Row) => Served | undefined,
): { put: Served[]; remove: string[] } {
  const put = byId(rows)
    .map(compile)
    .filter((served) => served !== undefined);
  const kept = new Set(put.map(({ id }) => id));
  return { put, remove: ids.filter((id) => !kept.has(id)).toSorted() };
}
