import { isDeepStrictEqual } from 'node:util';
import type { StoredRow } from './config-history.ts';

/** A service or a route that differs from the version to restore. */
export interface Deviation<Row extends StoredRow = StoredRow> {
  readonly id: string;
  /** Its row at that version; null: it did not exist. */
  readonly target: Row | null;
  /** Its present row; null: it does not exist. At most one of the two is null. */
  readonly current: Row | null;
  /** The highest revision that it ever had, because revisions only rise. */
  readonly revision: number;
}

/** The changes of one kind of resource. */
export interface RollBackPlan<Row extends StoredRow = StoredRow> {
  readonly create: readonly Row[];
  readonly update: readonly { readonly before: Row; readonly after: Row }[];
  readonly remove: readonly Row[];
  /** Ids of updated resources that change their name; their old names must be free first. */
  readonly renamed: readonly string[];
}

/** Whether secrets encrypted with this master key can be decrypted. */
export type KnowsKey = (keyId: string) => boolean;

/** A service whose secret at that version cannot be decrypted. */
export interface LostSecret {
  readonly service: string;
  readonly keyId: string;
}

/** Plans how the deviations of one kind are undone, and finds secrets that are lost. */
export function planRollBack<Row extends StoredRow>(
  deviations: readonly Deviation<Row>[],
  at: Date,
  knowsKey: KnowsKey,
): { readonly plan: RollBackPlan<Row>; readonly lost: readonly LostSecret[] } {
  const create: Row[] = [];
  const update: { before: Row; after: Row }[] = [];
  const remove: Row[] = [];
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

/** An unchanged secret keeps its present encryption, because the master key of that version may be gone. */
function withSecrets<Row extends StoredRow>(target: Row, current: Row | null): Row {
  if (current === null) return target;
  const secrets: Record<string, unknown> = {};
  if (isDeepStrictEqual(unsealed(target['credential']), unsealed(current['credential']))) {
    secrets['credential'] = current['credential'] ?? null;
  }
  if (isDeepStrictEqual(certificateOf(target), certificateOf(current))) {
    secrets['client_key'] = current['client_key'] ?? null;
  }
  // A route has neither field.
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
