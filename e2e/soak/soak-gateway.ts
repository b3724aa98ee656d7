import { createPlaneStack, type PlaneStack } from '@gateway/testing/processes';
import { eventually } from '@gateway/shared/test/eventually';
import { createClient, type Client } from '../harness/client.ts';
import { childrenOf } from '../operations/workers/group.ts';
import type { Watched } from './process-samples.ts';
import { createResources } from './create-resources.ts';
import { startSoakUpstreams, type SoakUpstreams } from './upstreams.ts';

/** A gateway of real processes, with the routes and upstreams of the load. */
export interface SoakGateway {
  readonly stack: PlaneStack;
  readonly upstreams: SoakUpstreams;
  readonly admin: Client;
  readonly dataPlaneUrls: readonly string[];
  readonly goodServiceId: string;
  readonly changedRouteId: string;
  readonly watched: readonly Watched[];
  /** Log files of the planes. */
  readonly logFiles: readonly string[];
  close(): Promise<void>;
}

const DATA_PLANES = 2;
const START_MS = 60_000;

/** The process of a data plane, or the primary and the workers of its group, in the order of their start. */
function processesOf(
  {
    name,
    pid,
    adminUrl,
  }: { readonly name: string; readonly pid: number; readonly adminUrl: string },
  workers: number,
): Watched[] {
  if (workers === 1) return [{ name, pid, adminUrl }];
  const children = childrenOf(pid).toSorted((a, b) => a - b);
  return [
    { name, pid, adminUrl, worker: 'primary' },
    ...children.map((child, index) => {
      const worker = String(index + 1);
      return { name: `${name}.${worker}`, pid: child, adminUrl, worker };
    }),
  ];
}

/** @param workers workers of each data plane */
export async function startSoakGateway(workers: number): Promise<SoakGateway> {
  const stack = await createPlaneStack();
  const upstreams = await startSoakUpstreams();
  const close = async () => {
    await stack.close();
    await upstreams.close();
  };
  try {
    const controlPlane = await stack.startControlPlane({ name: 'control-plane' });
    const admin = createClient(controlPlane.baseUrl, stack.adminToken);
    const setting = await createResources(admin, upstreams);
    const dataPlanes = await Promise.all(
      Array.from({ length: DATA_PLANES }, (_, index) =>
        stack.startDataPlane({
          name: `data-plane-${index + 1}`,
          env: { WORKERS: String(workers) },
        }),
      ),
    );
    for (const { baseUrl, adminUrl } of dataPlanes) {
      await eventually(
        async () => {
          const readiness = await (await fetch(`${adminUrl}/readyz`)).text();
          if (!readiness.includes('"ready"')) throw new Error(`not ready yet: ${readiness}`);
          // The route that was created last: if it is served, so are the others.
          const { status } = await admin.at(baseUrl).proxy('dead');
          if (status !== 502) throw new Error(`not served yet: ${status}`);
        },
        { deadlineMs: START_MS },
      );
    }
    const planes = [controlPlane, ...dataPlanes];
    return {
      stack,
      upstreams,
      admin,
      ...setting,
      close,
      dataPlaneUrls: dataPlanes.map(({ baseUrl }) => baseUrl),
      watched: [
        { name: controlPlane.name, pid: controlPlane.pid, adminUrl: controlPlane.adminUrl },
        ...dataPlanes.flatMap((one) => processesOf(one, workers)),
        { name: 'nats', pid: stack.nats.pid, adminUrl: undefined },
      ],
      logFiles: planes.map(({ logFile }) => logFile),
    };
  } catch (error) {
    await close();
    throw error;
  }
}
