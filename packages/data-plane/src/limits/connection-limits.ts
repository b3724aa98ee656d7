import type { Server, Socket } from 'node:net';
import { addressGroup, type AddressRanges } from '@gateway/shared/net/client-address';

export interface ConnectionLimits {
  readonly maxConnections: number;
  /** Per address; for IPv6 per /64 network, because one host can use all of its addresses. */
  readonly maxConnectionsPerAddress: number;
  /** Proxies connect for many callers, so the limit per address does not apply to them. */
  readonly trustedProxies: AddressRanges;
}

/** Why a connection was refused; a label of the metric. */
export const CONNECTION_REFUSALS = ['too_many', 'too_many_of_address'] as const;
export type ConnectionRefusal = (typeof CONNECTION_REFUSALS)[number];

/** Returns the number of open connections. */
export type OpenConnections = () => number;

/**
 * Limits the connections of a server, in total and per address, so that callers cannot exhaust the memory
 * or the file descriptors of the process. A connection above a limit is closed without an answer, because
 * an answer would cost what the limit saves.
 */
export function limitConnections(
  server: Server,
  limits: ConnectionLimits,
  refused: (reason: ConnectionRefusal) => void,
): OpenConnections {
  const openByAddress = new Map<string, number>();
  let open = 0;
  server.maxConnections = limits.maxConnections;
  server.on('drop', () => refused('too_many'));
  server.prependListener('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    // The server itself counts only connections of a port that it listens on, not those that a primary assigns.
    if (open >= limits.maxConnections) {
      refused('too_many');
      socket.destroy();
      return;
    }
    const exempt = limits.trustedProxies.has(address);
    const group = exempt ? '' : addressGroup(address);
    const before = openByAddress.get(group) ?? 0;
    if (!exempt && before >= limits.maxConnectionsPerAddress) {
      refused('too_many_of_address');
      socket.destroy();
      return;
    }
    open += 1;
    openByAddress.set(group, before + 1);
    socket.once('close', () => {
      open -= 1;
      const left = (openByAddress.get(group) ?? 1) - 1;
      if (left === 0) openByAddress.delete(group);
      else openByAddress.set(group, left);
    });
  });
  return () => open;
}
