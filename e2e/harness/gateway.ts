import type { TestUpstream } from '@gateway/shared/test/upstream';
import {
  createPlaneStack,
  type PlaneStack,
  type PlaneStart,
  type PlaneStackOptions,
} from '@gateway/testing/processes';
import { eventually } from '@gateway/shared/test/eventually';
import { createClient, type Client, type Resource } from './client.ts';
import { startRecordingUpstream } from './upstream.ts';

/** A process of a stack. */
type Plane = Awaited<ReturnType<PlaneStack['startDataPlane']>>;

/** A control plane, data planes and an upstream, each a real process or server, and one client. */
export interface Gateway {
  readonly stack: PlaneStack;
  readonly controlPlane: Plane;
  readonly dataPlanes: readonly Plane[];
  readonly upstream: TestUpstream;
  /** Calls the base URL, by default that of the first data plane, with the admin token. */
  readonly admin: Client;
  /** Creates a service at the upstream; by default in `production`. */
  service(fields?: Readonly<Record<string, unknown>>): Promise<Resource>;
  /** Creates a route, to a new service at the upstream or to the given one. */
  route(fields?: RouteFields): Promise<Resource>;
  /** Creates a token, by default one that covers everything, and gives a client of the base URL with it. */
  tokenClient(fields?: Readonly<Record<string, unknown>>): Promise<Client & { tokenId: string }>;
  /** Resolves when every data plane serves all earlier changes of the environment. */
  settled(environment?: string): Promise<void>;
  close(): Promise<void>;
}

interface RouteFields {
  readonly name?: string;
  readonly service_id?: string;
  /** Environment of the new service, if `service_id` is omitted. */
  readonly environment?: string;
  /** Path below the upstream's address. */
  readonly upstreamPath?: string;
  readonly [field: string]: unknown;
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
  const clients = dataPlanes.map(({ baseUrl }) => admin.at(baseUrl));
  let made = 0;
  const newName = (kind: string) => `${kind}-${(made += 1)}`;

  const service: Gateway['service'] = (fields = {}) =>
    admin.create('/v1/services', {
      name: newName('service'),
      environment: 'production',
      url: upstream.url,
      ...fields,
    });

  const route: Gateway['route'] = async ({ environment, upstreamPath = '', ...fields } = {}) => {
    const { id } =
      fields.service_id === undefined
        ? await service({
            url: upstream.url + upstreamPath,
            ...(environment !== undefined && { environment }),
          })
        : { id: fields.service_id };
    return admin.create('/v1/routes', { name: newName('route'), service_id: id, ...fields });
  };

  return {
    stack,
    controlPlane,
    dataPlanes,
    upstream,
    admin,
    service,
    route,
    async tokenClient(fields = {}) {
      const token = await admin.create('/v1/tokens', {
        name: newName('token'),
        environments: ['*'],
        scopes: ['*'],
        ...fields,
      });
      return { ...admin.withToken(String(token['secret'])), tokenId: token.id };
    },
    async settled(environment = 'production') {
      // A configuration with this route contains all earlier changes. The route does not accept GET,
      // so probes get 405 as soon as it is served, and reach no upstream.
      const { name } = await route({ environment, methods: ['POST'] });
      const headers = { 'x-gateway-environment': environment };
      for (const client of clients) {
        await eventually(async () => {
          const answer = await client.proxy(String(name), { method: 'GET', headers });
          if (answer.status !== 405) throw new Error(`not served yet: ${answer.status}`);
        });
      }
    },
    async close() {
      await stack.close();
      await upstream.close();
    },
  };
}
