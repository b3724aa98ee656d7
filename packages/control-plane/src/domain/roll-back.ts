import { isDeepStrictEqual } from 'node:util';
import type { StoredRow } from './config-history.ts';

/** A service or a route that is not what it was at the version that is rolled back to. */
export interface Deviation {
  readonly kind: 'service' | 'route';
  readonly id: string;
  /** What it was, as it was stored then; null: it was not there. */
  readonly target: StoredRow | null;
  /** What it is; null: it is not there. One of the two is there. */
  readonly current: StoredRow | null;
  /** The highest that it ever had; revisions only count up. */
  readonly revision: number;
}

/** What is to be written of one kind. */
export interface RollBackPlan {
  readonly create: readonly StoredRow[];
  readonly update: readonly { readonly before: StoredRow; readonly after: StoredRow }[];
  readonly remove: readonly StoredRow[];
  /** Of those that are updated: their names are to be free before any other gets one. */
  readonly renamed: readonly string[];
}

/** Whether a secret that was sealed under this master key can be opened. */
export type KnowsKey = (keyId: string) => boolean;

/** A service whose secret of then cannot be opened any more. */
export interface LostSecret {
  readonly service: string;
  readonly keyId: string;
}

/** What becomes of the deviations of one kind, and which secrets of then are lost. */
export function planRollBack(
  deviations: readonly Deviation[],
  at: Date,
  knowsKey: KnowsKey,
): { readonly plan: RollBackPlan; readonly lost: readonly LostSecret[] } {
  const create: StoredRow[] = [];
  const update: { before: StoredRow; after: StoredRow }[] = [];
  const remove: StoredRow[] = [];
  const lost: LostSecret[] = [];
  for (const { target, current, revision } of deviations) {
    if (target === null) {
      if (current !== null) remove.push(current);
      continue;
    }
    const after = {
      ...withSecrets(target, current),
      revision: revision + 1,
      updated_at: at.toISOString(),
    };
    for (const keyId of keysOf(after)) {
      if (!knowsKey(keyId)) lost.push({ service: after.name, keyId });
    }
    if (current === null) create.push(after);
    else update.push({ before: current, after });
  }
  const renamed = update
    .filter(({ before, after }) => before.name !== after.name)
    .map(({ after }) => after.id);
  return { plan: { create, update, remove, renamed }, lost };
}

interface Sealed {
  readonly key_id: string;
  readonly sealed: string;
}

/** A secret that is the same as now is taken as it is sealed now: its key of then may be gone. */
function withSecrets(target: StoredRow, current: StoredRow | null): StoredRow {
  if (current === null) return target;
  const secrets: Record<string, unknown> = {};
  if (isDeepStrictEqual(unsealed(target['credential']), unsealed(current['credential']))) {
    secrets['credential'] = current['credential'] ?? null;
  }
  if (isDeepStrictEqual(certificateOf(target), certificateOf(current))) {
    secrets['client_key'] = current['client_key'] ?? null;
  }
  // A route has neither, and is not given them.
  return {
    ...target,
    ...Object.fromEntries(Object.entries(secrets).filter(([key]) => key in target)),
  };
}

function unsealed(credential: unknown): unknown {
  if (typeof credential !== 'object' || credential === null) return null;
  return { ...credential, key_id: undefined, sealed: undefined };
}

function certificateOf({ tls }: StoredRow): unknown {
  return (tls as { client_certificate?: unknown } | null | undefined)?.client_certificate ?? null;
}

function keysOf(row: StoredRow): readonly string[] {
  const sealed = [row['credential'], row['client_key']] as (Sealed | null | undefined)[];
  return sealed.flatMap((one) => (one === null || one === undefined ? [] : [one.key_id]));
}
