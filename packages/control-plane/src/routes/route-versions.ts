import type { RouteVersion } from '@gateway/shared/definitions/route-versions';

/** The target of a route: one service, or versions that each name a service. */
export interface RouteTarget {
  readonly service_id: string | null;
  readonly versions: RouteVersion[] | null;
}

interface TargetInput {
  readonly service_id?: string | null | undefined;
  readonly versions?: RouteVersion[] | null | undefined;
}

/** The target of a new route. An omitted field means null. */
export function targetOf({ service_id = null, versions = null }: TargetInput): RouteTarget {
  return { service_id, versions };
}

/** The target after a change: a service replaces versions, and versions replace a service. */
export function changeTarget(before: RouteTarget, change: TargetInput): RouteTarget {
  if (typeof change.service_id === 'string') {
    return { service_id: change.service_id, versions: null };
  }
  if (change.versions) return { service_id: null, versions: change.versions };
  const { service_id = before.service_id, versions = before.versions } = change;
  return { service_id, versions };
}

/** Whether the target names a service. */
export function hasService(target: RouteTarget): boolean {
  return target.service_id !== null || target.versions !== null;
}

/** Each service that a target names, with the path of the field that names it. */
export function namedServices(target: RouteTarget): { id: string; path: string }[] {
  const named = (target.versions ?? []).map(({ service_id: id }, index) => ({
    id,
    path: `versions.${index}.service_id`,
  }));
  return target.service_id === null
    ? named
    : [{ id: target.service_id, path: 'service_id' }, ...named];
}
