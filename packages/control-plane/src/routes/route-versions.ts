import type { RouteMirror } from '@gateway/shared/definitions/route-mirror';
import type { RouteRedirect } from '@gateway/shared/definitions/route-redirect';
import type { RouteRespond } from '@gateway/shared/definitions/route-respond';
import type { RouteVersion } from '@gateway/shared/definitions/route-versions';

/** The target of a route: one service, versions that each name a service, or an answer of the gateway. */
export interface RouteTarget {
  readonly service_id: string | null;
  readonly versions: RouteVersion[] | null;
  readonly respond: RouteRespond | null;
  readonly redirect: RouteRedirect | null;
}

type TargetInput = { readonly [Name in keyof RouteTarget]?: RouteTarget[Name] | undefined };

/** The fields of which a route has exactly one. */
export const TARGET_FIELDS = ['service_id', 'versions', 'respond', 'redirect'] as const;

/** The target of a new route. An omitted field means null. */
export function targetOf({
  service_id = null,
  versions = null,
  respond = null,
  redirect = null,
}: TargetInput): RouteTarget {
  return { service_id, versions, respond, redirect };
}

/** The target after a change: each field of a target replaces the others. */
export function changeTarget(before: RouteTarget, change: TargetInput): RouteTarget {
  const isReplaced = TARGET_FIELDS.some((name) => (change[name] ?? null) !== null);
  return targetOf(isReplaced ? change : { ...targetOf(before), ...change });
}

/** Whether the target names a service. */
export function hasService(target: RouteTarget): boolean {
  return target.service_id !== null || target.versions !== null;
}

/** Whether there is a target. */
export function hasTarget(target: RouteTarget): boolean {
  return TARGET_FIELDS.some((name) => target[name] !== null);
}

/** What names services: the target of a route, and its mirror. */
export interface NamingServices extends RouteTarget {
  readonly mirror?: RouteMirror | null | undefined;
}

/** Each service that a route names, with the path of the field that names it. */
export function namedServices(route: NamingServices): { id: string; path: string }[] {
  const named = (route.versions ?? []).map(({ service_id: id }, index) => ({
    id,
    path: `versions.${index}.service_id`,
  }));
  if (route.service_id !== null) named.unshift({ id: route.service_id, path: 'service_id' });
  if (route.mirror) named.push({ id: route.mirror.service_id, path: 'mirror.service_id' });
  return named;
}
