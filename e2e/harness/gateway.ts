import type { TestUpstream } from '@gateway/shared/test/upstream';
import {
  createPlaneStack,
  type PlaneStack,
  type PlaneStart,
  type PlaneStackOptions,
} from '@gateway/local-stack/test/processes';
import { eventually } from '@gateway/shared/test/eventually';
import { createClient, type Client, type Resource } from './client.ts';
import { startRecordingUpstream } from './upstream.ts';

/** The service process of a stack, by what starts it. */
type Plane = Awaited<ReturnType<PlaneStack['startDataPlane']>>;

/** A control plane, data planes and an upstream, each a real process or server, and one client. */
export interface Gateway {
  readonly stack: PlaneStack;
  readonly controlPlane: Plane;
  readonly dataPlanes: readonly Plane[];
  readonly upstream: TestUpstream;
  /** Calls the base URL, which is the first data plane's, with the token that reaches everything. */
  readonly admin: Client;
  /** A service at the upstream, in `production` unless told otherwise. */
  service(fields?: Readonly<Record<string, unknown>>): Promise<Resource>;
  /** A route to a service of its own at the upstream's path, or to the given one. */
  route(fields?: RouteFields): Promise<Resource>;
  /** A token that may do everything everywhere unless told otherwise, as a client of the base URL. */
  tokenClient(fields?: Readonly<Record<string, unknown>>): Promise<Client & { tokenId: string }>;
  /** Resolves when every data plane serves what was changed in the environment before. */
  settled(environment?: string): Promise<void>;
  close(): Promise<void>;
}

interface RouteFields {
  readonly name?: string;
  readonly service_id?: string;
  /** Of the service that is made where `service_id` is left out. */
  readonly environment?: string;
  /** Below the upstream's address. */
  readonly upstreamPath?: string;
  readonly [field: string]: unknown;
}

export interface GatewayOptions extends PlaneStackOptions {
  readonly dataPlanes?: number;
  /** How each data plane is started, where it is not as all others. */
  readonly dataPlaneStart?: (stack: PlaneStack, index: number) => PlaneStart | Promise<PlaneStart>;
}

export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const stack = await createPlaneStack(options);
  const upstream = await startRecordingUpstream();
  try {
    const controlPlane = await stack.startControlPlane();
    const starting = Array.from({ length: options.dataPlanes ?? 1 }, async (_, index) =>
      stack.startDataPlane(await options.dataPlaneStart?.(stack, index)),
    );
    const dataPlanes = await Promise.all(starting);
    return createGateway(stack, controlPlane, dataPlanes, upstream);
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
): Gateway {
  const admin = createClient(dataPlanes[0]?.baseUrl ?? controlPlane.baseUrl, stack.adminToken);
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
      // A configuration that holds this route holds all that was changed before it. It takes no GET,
      // so the probes are refused with 405 as soon as it is served, and reach no upstream.
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
