import type { PlaneStart } from '@gateway/testing/processes';
import { eventually } from '@gateway/shared/test/eventually';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import type { Client } from '../../harness/client.ts';
import { startGateway, type Gateway, type GatewayOptions } from '../../harness/gateway.ts';
import { shareQuotas } from '../../harness/quota-shares.ts';
import { FaultRun, type FaultRunOptions } from './fault-run.ts';

type Plane = Gateway['controlPlane'];

/** A gateway under a load of two clients. Each of its processes and stores can be stopped and started. */
export interface FaultWorld {
  readonly gateway: Gateway;
  /** The current processes: one that was started again replaces the former one. */
  readonly controlPlane: Plane;
  readonly dataPlanes: readonly Plane[];
  /** Calls the control plane directly with the admin token. */
  readonly management: Client;
  /** A run against the first data plane, or the given ones. */
  begin(fault: string, options?: Partial<FaultRunOptions>): Promise<FaultRun>;
  /** Starts the control plane again on its ports, after it has ended. */
  restartControlPlane(start?: PlaneStart): Promise<Plane>;
  /** Starts a data plane again on its ports and with its data, after it has ended. */
  restartDataPlane(index: number, start?: PlaneStart): Promise<Plane>;
  /** Makes a change, and resolves when every data plane serves it. */
  changeArrives(): Promise<void>;
  /** How many idempotency keys the upstream has received more than once since the run began. */
  keysSentTwice(): number;
  close(): Promise<void>;
}

/** Latency of the upstream, so that requests are in flight when a process ends. */
const UPSTREAM_MS = 5;
const CHANGE_MS = 60_000;
/** The routes of the clients. */
export const LOAD_ROUTES = { getRoute: 'load-get', keyedRoute: 'load-keyed' };
const PLENTY = { limit: 1_000_000, window_seconds: 3600 };

/** There are two data planes by default. */
export async function startFaultWorld(options: GatewayOptions = {}): Promise<FaultWorld> {
  const gateway = await startGateway({ dataPlanes: 2, ...options });
  const upstream = await startUpstream((_seen, response) => {
    setTimeout(() => response.end('{}'), UPSTREAM_MS).unref();
  });
  try {
    const { id } = await gateway.service({ url: upstream.url });
    await gateway.route({ name: LOAD_ROUTES.getRoute, service_id: id, rate_limit: PLENTY });
    await gateway.route({ name: LOAD_ROUTES.keyedRoute, service_id: id });
    await gateway.settled();
    await shareQuotas(gateway.dataPlanes);
    await useQuotas(gateway);
    return createWorld(gateway, upstream);
  } catch (error) {
    await upstream.close();
    await gateway.close();
    throw error;
  }
}

/** Windows that had begun before the data planes had their shares are granted without NATS only where they were used. */
async function useQuotas({ admin, dataPlanes }: Gateway): Promise<void> {
  for (const { baseUrl } of dataPlanes) {
    const client = admin.at(baseUrl);
    await client.proxy(LOAD_ROUTES.getRoute, { method: 'GET' });
    await client.proxy(LOAD_ROUTES.keyedRoute, { method: 'GET' });
  }
}

function createWorld(gateway: Gateway, upstream: TestUpstream): FaultWorld {
  let { controlPlane } = gateway;
  const dataPlanes = [...gateway.dataPlanes];
  const management = gateway.admin.at(controlPlane.baseUrl);
  let changes = 0;
  let run: FaultRun | undefined;

  return {
    gateway,
    get controlPlane() {
      return controlPlane;
    },
    dataPlanes,
    management,
    async begin(fault, more = {}) {
      // The upstream's list of requests is not needed here, and would grow.
      upstream.seen.length = 0;
      // A run that failed did not stop its load.
      await run?.load.stop();
      run = FaultRun.start({
        fault,
        management,
        token: gateway.admin.token,
        ...LOAD_ROUTES,
        targets: dataPlanes.slice(0, 1).map(({ baseUrl }) => baseUrl),
        ...more,
      });
      await run.steady();
      return run;
    },
    async restartControlPlane(start = {}) {
      const again = { ...samePlaces(controlPlane), ...start };
      return (controlPlane = await gateway.stack.startControlPlane(again));
    },
    async restartDataPlane(index, start = {}) {
      const plane = dataPlanes[index];
      if (plane === undefined) throw new Error(`no data plane ${index}`);
      const again = await gateway.stack.startDataPlane({ ...samePlaces(plane), ...start });
      dataPlanes[index] = again;
      return again;
    },
    async changeArrives() {
      const name = `change-${(changes += 1)}`;
      const deadline = { deadlineMs: CHANGE_MS, intervalMs: 50 };
      const { id } = await eventually(
        () =>
          management.create('/v1/services', {
            name,
            environment: 'production',
            url: upstream.url,
          }),
        deadline,
      );
      // The route does not accept GET, so a probe gets 405 as soon as the route is served.
      await eventually(
        () => management.create('/v1/routes', { name, service_id: id, methods: ['POST'] }),
        deadline,
      );
      for (const { baseUrl } of dataPlanes) {
        await eventually(async () => {
          const { status } = await management.at(baseUrl).proxy(name, { method: 'GET' });
          if (status !== 405) throw new Error(`not served yet: ${status}`);
        }, deadline);
      }
    },
    keysSentTwice() {
      const keys = upstream.seen.flatMap(({ headers }) => headers['idempotency-key'] ?? []);
      return keys.length - new Set(keys).size;
    },
    async close() {
      await run?.load.stop();
      await gateway.close();
      await upstream.close();
    },
  };
}

function samePlaces({ name, ports: [port, adminPort] }: Plane) {
  return {
    name,
    ...(port !== undefined && { port }),
    ...(adminPort !== undefined && { adminPort }),
  };
}
