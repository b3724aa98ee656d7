import { ROUTE_FORM, usualValues } from '@gateway/client/form-fields';
import type { TARGET_FIELDS } from './route-draft.ts';

/** Where the requests of a route go. */
export type TargetKind = 'service' | 'versions' | 'respond' | 'redirect';

/** The fields of a draft that say so. A field without effect is null. */
export type Target = Readonly<Record<(typeof TARGET_FIELDS)[number], unknown>>;

const NOWHERE: Target = { service_id: null, versions: null, respond: null, redirect: null };

export function kindOf({ versions, respond, redirect }: Target): TargetKind {
  if (isObject(respond)) return 'respond';
  if (isObject(redirect)) return 'redirect';
  return Array.isArray(versions) ? 'versions' : 'service';
}

/**
 * The target if another kind is chosen.
 * @param kept the last one of this kind, which comes back as it was; undefined: it was not chosen yet
 */
export function targetOf(kind: TargetKind, before: Target, kept: Target | undefined): Target {
  if (kept !== undefined) return kept;
  switch (kind) {
    case 'service':
      return { ...NOWHERE, service_id: firstServiceOf(before) };
    case 'versions': {
      const version = { name: 'v1', service_id: before.service_id ?? undefined, weight: 100 };
      return { ...NOWHERE, versions: [version] };
    }
    case 'respond':
    case 'redirect':
      return { ...NOWHERE, [kind]: usualValues(ROUTE_FORM[kind]?.fields ?? {}) };
  }
}

function firstServiceOf({ versions }: Target): unknown {
  const first: unknown = Array.isArray(versions) ? versions[0] : undefined;
  return isObject(first) && 'service_id' in first ? first.service_id : null;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
