import { listVariable } from '../config/environment.ts';
import { isHostPattern, patternsOf, type RouteMatch } from './route-match.ts';

/* Hosts that no route may have, because operators reach the gateway itself under them. */

/** A comma-separated list of hosts, each exact or with a leading `*.`. */
export const reservedHostsVariable = listVariable
  .transform((hosts) => hosts.map((host) => host.toLowerCase()))
  .refine((hosts) => hosts.every(isHostPattern), {
    error:
      'must be a comma-separated list of host names without port, such as gateway.example.com or *.ops.example.com',
  });

/** The reserved host that a pattern is, that it covers, or that covers it; undefined: none. */
export function reservedHostOf(pattern: string, reserved: readonly string[]): string | undefined {
  const around = new Set(patternsOf(pattern));
  return reserved.find((host) => around.has(host) || isCoveredBy(host, pattern));
}

function isCoveredBy(host: string, pattern: string): boolean {
  for (const one of patternsOf(host)) if (one === pattern) return true;
  return false;
}

/** A reserved host in the ways of a route, with its place there. */
export interface ReservedUse {
  readonly path: readonly ['match', number, 'hosts', number];
  readonly message: string;
}

/** The hosts of ways that are reserved. */
export function* reservedUses(
  ways: readonly Pick<RouteMatch, 'hosts'>[],
  reserved: readonly string[],
): Generator<ReservedUse> {
  if (reserved.length === 0) return;
  for (const [way, { hosts }] of ways.entries()) {
    for (const [at, host] of hosts.entries()) {
      const taken = reservedHostOf(host, reserved);
      if (taken === undefined) continue;
      const message = `must not be ${host}: it overlaps with ${taken}, a host of the gateway itself (RESERVED_HOSTS)`;
      yield { path: ['match', way, 'hosts', at], message };
    }
  }
}

/** The ways without hosts that are reserved. One that has no other host is left out: without a host it would take all. */
export function withoutReserved<Way extends Pick<RouteMatch, 'hosts'>>(
  ways: readonly Way[],
  reserved: readonly string[],
): readonly Way[] {
  if (reserved.length === 0) return ways;
  return ways.flatMap((way) => {
    const hosts = way.hosts.filter((host) => reservedHostOf(host, reserved) === undefined);
    if (hosts.length === way.hosts.length) return [way];
    return hosts.length === 0 ? [] : [{ ...way, hosts }];
  });
}
