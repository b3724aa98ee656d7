import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServiceProcess } from '@gateway/local-stack/stack/service-process';
import { createPlaneStack, type PlaneStack } from './processes.ts';

/** Where the process of a plane listens, and its log. */
export type PlaneAddress = Pick<ServiceProcess, 'baseUrl' | 'adminUrl' | 'logFile'>;

/** A running gateway that suites use one after the other. */
export interface PooledGateway {
  readonly id: number;
  /** Differs for each suite of the run. */
  readonly loan: number;
  readonly adminToken: string;
  readonly databaseUrl: string;
  readonly controlPlane: PlaneAddress;
  readonly dataPlanes: readonly PlaneAddress[];
}

/** The address of the pool of this run, for workers. Set by the global setup. */
export const POOL_VARIABLE = 'TEST_GATEWAY_POOL';

const DATA_PLANES = 2;
/** An idle gateway takes as much CPU time in a minute as a start. */
const KEEP_IDLE_MS = 30_000;

interface Started extends Omit<PooledGateway, 'loan'> {
  readonly stack: PlaneStack;
}

/** A gateway that was given back, and the timer that stops it. */
interface Idle {
  readonly gateway: Started;
  readonly stopping: NodeJS.Timeout;
}

/** The gateways of one jest run. */
export interface GatewayPool {
  readonly url: string;
  /** Stops every gateway that was started. */
  close(): Promise<void>;
}

/**
 * Lends gateways to the workers of a jest run: at most one to each suite at a time, started when none is idle, and stopped when
 * no suite has wanted it for a while, or with the run. It is a server on loopback, because a worker may end before the run does. `POST /borrow` answers with a `PooledGateway`;
 * `POST /return?id=` takes it back, and `POST /discard?id=` stops it.
 */
export async function startGatewayPool(): Promise<GatewayPool> {
  // The one that was given back last is lent first, so that those that are not needed are stopped.
  const idle: Idle[] = [];
  const started = new Map<number, Started>();
  const starting = new Set<Promise<Started>>();
  /** Of gateways that no suite wanted any more. */
  const stops = new Set<Promise<void>>();
  let count = 0;
  let loans = 0;

  async function start(): Promise<Started> {
    const stack = await createPlaneStack();
    try {
      const controlPlane = await stack.startControlPlane();
      const planes = Array.from({ length: DATA_PLANES }, () => stack.startDataPlane());
      const dataPlanes = await Promise.all(planes);
      count += 1;
      const { adminToken, databaseUrl } = stack;
      const gateway = { id: count, stack, adminToken, databaseUrl, controlPlane, dataPlanes };
      started.set(gateway.id, gateway);
      return gateway;
    } catch (error) {
      await stack.close();
      throw error;
    }
  }

  async function borrow(): Promise<PooledGateway> {
    const found = idle.pop();
    loans += 1;
    const loan = loans;
    if (found !== undefined) {
      clearTimeout(found.stopping);
      return lent(found.gateway, loan);
    }
    const one = start();
    starting.add(one);
    return lent(await one.finally(() => starting.delete(one)), loan);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://pool');
    if (pathname === '/borrow') {
      response.end(JSON.stringify(await borrow()));
      return;
    }
    const gateway = started.get(Number(searchParams.get('id')));
    if (gateway === undefined) throw new Error(`${pathname}: not a gateway of the pool`);
    if (pathname === '/return') keep(gateway);
    else await discard(gateway);
    response.end();
  }

  function keep(gateway: Started): void {
    const stopping = setTimeout(() => {
      idle.splice(idle.indexOf(one), 1);
      const stopped = discard(gateway);
      stops.add(stopped);
      // The end of the run gets the error.
      stopped.catch(() => undefined);
    }, KEEP_IDLE_MS).unref();
    const one = { gateway, stopping };
    idle.push(one);
  }

  async function discard(gateway: Started): Promise<void> {
    started.delete(gateway.id);
    await gateway.stack.close();
  }

  const server = createServer((request, response) => {
    // A worker that reused a connection could meet its idle time-out.
    response.setHeader('connection', 'close');
    answer(request, response).catch((error: unknown) => {
      response.statusCode = 500;
      response.end(String(error));
    });
  });
  const url = await listen(server);
  return {
    url,
    async close() {
      server.close();
      server.closeAllConnections();
      await Promise.allSettled(starting);
      for (const { stopping } of idle) clearTimeout(stopping);
      await Promise.all([...stops, ...[...started.values()].map(({ stack }) => stack.close())]);
    },
  };
}

function lent(gateway: Started, loan: number): PooledGateway {
  const { id, adminToken, databaseUrl, controlPlane, dataPlanes } = gateway;
  return {
    id,
    loan,
    adminToken,
    databaseUrl,
    controlPlane: addressOf(controlPlane),
    dataPlanes: dataPlanes.map(addressOf),
  };
}

function addressOf({ baseUrl, adminUrl, logFile }: PlaneAddress): PlaneAddress {
  return { baseUrl, adminUrl, logFile };
}

/** On a free port of loopback. It does not keep the process alive. */
async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
