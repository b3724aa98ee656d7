import { eventually } from '@gateway/shared/test/eventually';
import type { TestUpstream } from '@gateway/shared/test/upstream';
import type { Client, Resource } from './client.ts';

/** How a suite makes resources of its gateway, with names of their own. */
export interface ResourceMakers {
  /** Creates a service at the upstream; by default in `production`. */
  service(fields?: Readonly<Record<string, unknown>>): Promise<Resource>;
  /** Creates a route, to a new service at the upstream or to the given one. */
  route(fields?: RouteFields): Promise<Resource>;
  /** Creates a token, by default one that covers everything, and gives a client of the base URL with it. */
  tokenClient(fields?: Readonly<Record<string, unknown>>): Promise<Client & { tokenId: string }>;
  /** Resolves when every data plane serves all earlier changes of the environment. */
  settled(environment?: string): Promise<void>;
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

/** Makes resources by the client, at the upstream, and waits for these data planes. The prefix tells the names of suites apart. */
export function resourceMakers(
  admin: Client,
  dataPlanes: readonly { readonly baseUrl: string }[],
  upstream: TestUpstream,
  prefix = '',
): ResourceMakers {
  const clients = dataPlanes.map(({ baseUrl }) => admin.at(baseUrl));
  let made = 0;
  const newName = (kind: string) => `${kind}-${prefix}${(made += 1)}`;

  const service: ResourceMakers['service'] = (fields = {}) =>
    admin.create('/v1/services', {
      name: newName('service'),
      environment: 'production',
      url: upstream.url,
      ...fields,
    });

  const route: ResourceMakers['route'] = async ({
    environment,
    upstreamPath = '',
    ...fields
  } = {}) => {
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
  };
}
