import { patternsOf, type RouteMatch } from '@gateway/shared/definitions/route-match';

const HOST = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;

/** Whether the route names this host, or a wildcard over it. */
export function isHostOf(match: readonly RouteMatch[] | null | undefined, host: string): boolean {
  if (!HOST.test(host)) return false;
  const named = new Set((match ?? []).flatMap(({ hosts }) => hosts));
  return [...patternsOf(host)].some((pattern) => named.has(pattern));
}
