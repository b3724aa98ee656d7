import { StartError } from '@gateway/tools/process/errors';
import { caddy } from './caddy.ts';
import { gatewayRows } from './gateway.ts';
import { haproxy, nginx } from './nginx-and-haproxy.ts';
import { fastifyHttpProxy, floor, httpProxy } from './node-proxies.ts';
import type { PeerKind } from './peer.ts';

/**
 * The rows with these names, in the order in which every round visits them.
 *
 * @throws {StartError} if a name is not the name of a row
 */
export function namedRows(all: readonly PeerKind[], names: readonly string[]): readonly PeerKind[] {
  const unknown = names.filter((name) => !all.some((kind) => kind.name === name));
  if (unknown.length > 0) {
    const known = all.map((kind) => kind.name).join(', ');
    throw new StartError(`unknown row: ${unknown.join(', ')}; the rows are: ${known}`);
  }
  return all.filter((kind) => names.length === 0 || names.includes(kind.name));
}

/**
 * The row with this name.
 *
 * @throws {StartError} if there is none
 */
export function namedRow(all: readonly PeerKind[], name: string): PeerKind {
  const [kind] = namedRows(all, [name]);
  if (kind === undefined) throw new StartError('there are no rows');
  return kind;
}

/**
 * Chooses the rows of a run. nginx is always the first of them, because every ratio is taken against it.
 *
 * @param only names of the rows; empty: all of them
 * @throws {StartError} if a name is not the name of a row
 */
export function chooseRows(only: readonly string[]): readonly PeerKind[] {
  const others = [haproxy, caddy, httpProxy, fastifyHttpProxy, floor, ...gatewayRows()];
  const chosen = namedRows([nginx, ...others], only);
  return [nginx, ...chosen.filter((kind) => kind !== nginx)];
}
