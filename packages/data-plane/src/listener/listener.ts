import { createServer } from 'node:net';
import { listen } from '@gateway/shared/net/listen';
import { stopListening } from '@gateway/shared/net/stop-listening';
import { limitConnections, type LimitedConnections } from '../limits/connection-limits.ts';
import { ConnectionOutcomes } from './connection-outcomes.ts';
import { drain } from './drain.ts';
import { createEngines } from './engines.ts';
import type { ServerOptions } from './options.ts';

/** The server of the data plane, listening. */
export interface DataPlaneServer {
  readonly port: number;
  /** The number of open connections. */
  openConnections(): number;
  /**
   * Resolves once the port is closed, and the connections that the kernel has accepted before are served. A caller that is
   * asked to connect again before that could do so while the port closes, and would be reset.
   */
  stopAccepting(): Promise<void>;
  /**
   * Waits up to `timeoutMs` for requests in flight and for callers that are still sending a refused body, then closes the
   * rest. Idle connections stay open for `graceMs`. A request on one of them is still answered, with
   * `Connection: close`, so that no caller loses a request that it has already sent. Call `stopAccepting` before it.
   */
  drain(graceMs: number, timeoutMs: number): Promise<void>;
}

/** Starts the HTTP server of the data plane. */
export async function startServer(options: ServerOptions): Promise<DataPlaneServer> {
  const outcomes = new ConnectionOutcomes(options.connectionCounts);
  const connections = limitConnections(
    options.limits,
    (reason) => {
      outcomes.refused(reason);
    },
    (socket) => {
      engines.serve(socket, outcomes.accepted(socket));
    },
  );
  const engines = createEngines(options, connections.open);
  const { port, stopAccepting } = await startAccepting(connections, options);
  return {
    port,
    openConnections: connections.open,
    async stopAccepting() {
      await stopAccepting();
    },
    drain: (graceMs, timeoutMs) => drain({ engines, outcomes }, options, { graceMs, timeoutMs }),
  };
}

interface Accepting {
  readonly port: number;
  /** Stops new connections; those that are open stay. Resolves once those that the kernel has accepted are open. */
  readonly stopAccepting: () => Promise<void> | void;
}

async function startAccepting(
  { accept }: LimitedConnections,
  { host, port, connections, log, connectionCounts: { notAccepted } }: ServerOptions,
): Promise<Accepting> {
  if (connections === undefined) {
    const server = createServer({ noDelay: true }, accept);
    const portVariable = 'GATEWAY_PORT';
    const listening = await listen(server, { host, port, portVariable, log, notAccepted });
    return { port: listening, stopAccepting: () => stopListening(server) };
  }
  const stopAccepting = connections((socket) => {
    socket.setNoDelay(true);
    accept(socket);
  });
  return { port, stopAccepting };
}
