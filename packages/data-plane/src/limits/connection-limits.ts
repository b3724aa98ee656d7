import type { Socket } from 'node:net';
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

/** Lets connections through to a server up to its limits. */
export interface LimitedConnections {
  /** Serves a connection, or closes it if it is above a limit. */
  readonly accept: (socket: Socket) => void;
  /** The number of open connections. */
  readonly open: () => number;
}

/**
 * Limits the connections of a server, in total and per address, so that callers cannot exhaust the memory or the file
 * descriptors of the process. A connection above a limit is closed without an answer, because an answer would cost what
 * the limit saves. Nothing else is made for it.
 *
 * @param serve serves a connection within the limits
 */
export function limitConnections(
  limits: ConnectionLimits,
  refused: (reason: ConnectionRefusal) => void,
  serve: (socket: Socket) => void,
): LimitedConnections {
  const openByAddress = new Map<string, number>();
  let open = 0;
  const refuse = (socket: Socket, reason: ConnectionRefusal) => {
    refused(reason);
    socket.destroy();
  };
  return {
    open: () => open,
    accept(socket) {
      const address = socket.remoteAddress ?? '';
      if (open >= limits.maxConnections) {
        refuse(socket, 'too_many');
        return;
      }
      const exempt = limits.trustedProxies.has(address);
      const group = exempt ? '' : addressGroup(address);
      const before = openByAddress.get(group) ?? 0;
      if (!exempt && before >= limits.maxConnectionsPerAddress) {
        refuse(socket, 'too_many_of_address');
        return;
      }
      open += 1;
      openByAddress.set(group, before + 1);
      socket.on('close', () => {
        open -= 1;
        const left = (openByAddress.get(group) ?? 1) - 1;
        if (left === 0) openByAddress.delete(group);
        else openByAddress.set(group, left);
      });
      serve(socket);
    },
  };
}
