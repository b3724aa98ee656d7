import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { startNameServer, type NameServer } from '@gateway/shared/test/name-server';
import { startFaultWorld, type FaultWorld } from './fault-world.ts';

/** A gateway that uses the DNS server of the test. The clock of its second data plane is five minutes ahead. */
export interface UpstreamWorld {
  readonly world: FaultWorld;
  readonly names: NameServer;
  close(): Promise<void>;
}

/** Difference of the clock of the second data plane, ms. */
export const SKEW_MS = 300_000;

/** Connections to names are replaced soon, so that the test is short. */
const MAX_AGE_MS = 500;
/** Loaded with `--import`, it moves the clock of a process by CLOCK_SKEW_MS. */
export const SKEWED_CLOCK = new URL('./skewed-clock.ts', import.meta.url);

export async function startUpstreamWorld(): Promise<UpstreamWorld> {
  const names = await startNameServer();
  try {
    const world = await startFaultWorld({
      env: {
        DNS_SERVERS: names.address,
        UPSTREAM_CONNECTION_MAX_AGE_MS: String(MAX_AGE_MS),
      },
      dataPlaneStart: (_stack, index) =>
        index === 0
          ? {}
          : {
              nodeArgs: [`--import=${SKEWED_CLOCK.href}`],
              env: { CLOCK_SKEW_MS: String(SKEW_MS) },
            },
    });
    return {
      world,
      names,
      async close() {
        await world.close();
        await names.close();
      },
    };
  } catch (error) {
    await names.close();
    throw error;
  }
}

/** An upstream on this address and port that counts its requests. */
export interface CountingUpstream {
  readonly port: number;
  readonly served: number;
  close(): Promise<void>;
}

export async function startCountingUpstream(host: string, port = 0): Promise<CountingUpstream> {
  let served = 0;
  const server: Server = createServer((request, response) => {
    if (request.headers['user-agent'] !== 'gateway-health-check') served += 1;
    request.resume();
    response.end('{}');
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    get served() {
      return served;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
