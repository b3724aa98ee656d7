import { StartError } from '@gateway/local-stack/process/start-error';
import { fastifyHttpProxy } from './fastify-http-proxy.ts';
import { floor } from './floor.ts';
import { gatewayRows } from './gateway.ts';
import { haproxy } from './haproxy.ts';
import { httpProxy } from './http-proxy.ts';
import { nginx } from './nginx.ts';
import type { PeerKind } from './peer.ts';

const ALL: readonly PeerKind[] = [
  nginx,
  haproxy,
  httpProxy,
  fastifyHttpProxy,
  floor,
  ...gatewayRows,
];

/**
 * The rows of a run, in the order in which every round visits them. nginx is always one: the ratio is
 * taken against it.
 *
 * @throws {StartError} for a name that is no row's
 */
export function chooseKinds(names: readonly string[]): readonly PeerKind[] {
  if (names.length === 0) return ALL;
  const unknown = names.filter((name) => !ALL.some((kind) => kind.name === name));
  if (unknown.length > 0) {
    const known = ALL.map((kind) => kind.name).join(', ');
    throw new StartError(`no row is called ${unknown.join(', ')}; the rows are: ${known}`);
  }
  return ALL.filter((kind) => kind === nginx || names.includes(kind.name));
}
