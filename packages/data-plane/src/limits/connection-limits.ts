import type { Server, Socket } from 'node:net';
import { addressGroup, type AddressRanges } from '@gateway/shared/net/client-address';

export interface ConnectionLimits {
  readonly maxConnections: number;
  /** From one address; of IPv6 from one network of 64 bits, as a host has all of its addresses. */
  readonly maxConnectionsPerAddress: number;
  /** Proxies stand for many callers; they are not held to the limit of one address. */
  readonly trustedProxies: AddressRanges;
}

/** Why a connection was refused, as the metric calls it. */
export type ConnectionRefusal = 'too_many' | 'too_many_of_address';

/** Tells how many connections are open. */
export type OpenConnections = () => number;

/**
 * Bounds the connections of a server, so that neither all callers together nor one address can take
 * the memory and the descriptors of the process. One too many is closed without an answer: to write
 * one would cost what the bound is there to save.
 */
export function limitConnections(
  server: Server,
  limits: ConnectionLimits,
  refused: (reason: ConnectionRefusal) => void,
): OpenConnections {
  const ofAddress = new Map<string, number>();
  let open = 0;
  server.maxConnections = limits.maxConnections;
  // Else a worker would hand one too many back to its group, and the workers would pass it round.
  Object.assign(server, { dropMaxConnection: true });
  server.on('drop', () => refused('too_many'));
  server.prependListener('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const exempt = limits.trustedProxies.has(address);
    const group = exempt ? '' : addressGroup(address);
    const before = ofAddress.get(group) ?? 0;
    if (!exempt && before >= limits.maxConnectionsPerAddress) {
      refused('too_many_of_address');
      socket.destroy();
      return;
    }
    open += 1;
    ofAddress.set(group, before + 1);
    socket.once('close', () => {
      open -= 1;
      const left = (ofAddress.get(group) ?? 1) - 1;
      if (left === 0) ofAddress.delete(group);
      else ofAddress.set(group, left);
    });
  });
  return () => open;
}
