import { isDeepStrictEqual } from 'node:util';
import type { StoredCredential } from '../services/service-credential.ts';
import type { Service } from '../services/service.ts';
import { withPresentIds } from '../services/service-upstreams.ts';
import type { RowChange, RowKind, Rows } from './row-change.ts';

/** A service or a route that differs from the version to restore. */
interface KindDeviation<Kind extends RowKind> {
  readonly kind: Kind;
  readonly id: string;
  /** Its row at that version; null: it did not exist. */
  readonly target: Rows[Kind] | null;
  /** Its present row; null: it does not exist. At most one of the two is null. */
  readonly current: Rows[Kind] | null;
  /** The highest revision that it ever had, because revisions only rise. */
  readonly revision: number;
}

export type Deviation = { [Kind in RowKind]: KindDeviation<Kind> }[RowKind];

/** Whether secrets encrypted with this master key can be decrypted. */
export type KnowsKey = (keyId: string) => boolean;

/** A service whose secret at that version cannot be decrypted. */
export interface LostSecret {
  readonly service: string;
  readonly keyId: string;
}

/** Plans how deviations are undone, and finds secrets that are lost. */
export function planRollBack(
  deviations: readonly Deviation[],
  knowsKey: KnowsKey,
): { readonly changes: readonly RowChange[]; readonly lost: readonly LostSecret[] } {
  const changes = deviations.map(({ kind, target, current, revision }) => {
    const restored =
      kind === 'service' && target && current ? withPresentParts(target, current) : target;
    return { kind, before: current, after: restored && { ...restored, revision } } as RowChange;
  });
  const lost = changes.flatMap(({ kind, after }) => {
    if (kind !== 'service' || after === null) return [];
    const keys = [after.credential, after.client_key].flatMap((one) => (one ? [one.key_id] : []));
    return keys
      .filter((keyId) => !knowsKey(keyId))
      .map((keyId) => ({ service: after.name, keyId }));
  });
  return { changes, lost };
}

/**
 * An unchanged secret keeps its present encryption, because the master key of that version may be gone. An unchanged upstream
 * keeps its present id, so that data planes keep its health and connections.
 */
function withPresentParts(target: Service, current: Service): Service {
  const isSame = isDeepStrictEqual(unsealed(target.credential), unsealed(current.credential));
  const hasSameKey = isDeepStrictEqual(certificateOf(target), certificateOf(current));
  return {
    ...target,
    upstreams: withPresentIds(target.upstreams, current.upstreams, ({ id }) => id),
    ...(isSame && { credential: current.credential }),
    ...(hasSameKey && { client_key: current.client_key }),
  };
}

function unsealed(credential: StoredCredential | null): unknown {
  return credential && { ...credential, key_id: undefined, sealed: undefined };
}

function certificateOf({ tls }: Service): unknown {
  return tls?.client_certificate ?? null;
}
