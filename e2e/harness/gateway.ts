import type { TestUpstream } from '@gateway/shared/test/upstream';
import {
  createPlaneStack,
  type PlaneStack,
  type PlaneStart,
  type PlaneStackOptions,
} from '@gateway/testing/processes';
import { createClient, type Client } from './client.ts';
import { resourceMakers, type ResourceMakers } from './resource-makers.ts';
import { startRecordingUpstream } from './upstream.ts';

/** A process of a stack. */
type Plane = Awaited<ReturnType<PlaneStack['startDataPlane']>>;

/** A control plane, data planes and an upstream, each a real process or server, and one client. */
export interface Gateway extends ResourceMakers {
  readonly stack: PlaneStack;
  readonly controlPlane: Plane;
  readonly dataPlanes: readonly Plane[];
  readonly upstream: TestUpstream;
  /** Calls the base URL, by default that of the first data plane, with the admin token. */
  readonly admin: Client;
  close(): Promise<void>;
}

export interface GatewayOptions extends PlaneStackOptions {
  readonly dataPlanes?: number;
  readonly controlPlaneStart?: PlaneStart;
  /** Where the admin client calls, also to create services, routes and tokens; by default the first data plane. */
  readonly adminAt?: 'control plane';
  /** Options for single data planes. */
  readonly dataPlaneStart?: (stack: PlaneStack, index: number) => PlaneStart | Promise<PlaneStart>;
}

export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const stack = await createPlaneStack(options);
  const upstream = await startRecordingUpstream();
  try {
    const controlPlane = await stack.startControlPlane(options.controlPlaneStart);
    const starting = Array.from({ length: options.dataPlanes ?? 1 }, async (_, index) =>
      stack.startDataPlane(await options.dataPlaneStart?.(stack, index)),
    );
    const dataPlanes = await Promise.all(starting);
    const base = options.adminAt === undefined ? dataPlanes[0] : undefined;
    const admin = createClient((base ?? controlPlane).baseUrl, stack.adminToken);
    return createGateway(stack, controlPlane, dataPlanes, upstream, admin);
  } catch (error) {
    await upstream.close();
    await stack.close();
    throw error;
  }
}

function createGateway(
  stack: PlaneStack,
  controlPlane: Plane,
  dataPlanes: readonly Plane[],
  upstream: TestUpstream,
  admin: Client,
): Gateway {
  return {
    stack,
    controlPlane,
    dataPlanes,
    upstream,
    admin,
    ...resourceMakers(admin, dataPlanes, upstream),
    async close() {
      await stack.close();
      await upstream.close();
    },
  };
}
