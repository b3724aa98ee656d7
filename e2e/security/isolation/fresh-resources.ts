import type { Answer, Client } from '../../harness/client.ts';
import type { Gateway } from '../../harness/gateway.ts';
import { FRESH_ROUTES } from './callers.ts';

/** One call of an endpoint, on a resource that was created for it. */
export interface ManagementCall {
  readonly path: string;
  readonly body?: object;
  /** Removes what the call and its preparation have created, except what `removeMade` removes. */
  readonly cleanUp?: () => Promise<unknown>;
}

/** Removes the resource that a call has created. */
export async function removeMade(admin: Client, { status, headers }: Answer): Promise<void> {
  const location = headers.get('location');
  if (status === 201 && location !== null) await admin.delete(location);
}

/** The resources before the first call. */
export interface World {
  readonly gateway: Gateway;
  readonly serviceId: string;
  readonly routeId: string;
  readonly tokenId: string;
  /** The id of a request on the route. */
  readonly requestId: string;
}

export type FreshResources = ReturnType<typeof freshResources>;

/** Creates resources that one call may change or delete. */
export function freshResources(world: World) {
  const { gateway, serviceId, routeId } = world;
  const { admin } = gateway;
  let made = 0;
  const newName = (kind: string) => `${kind}-of-the-matrix-${(made += 1)}`;
  /** The name of a route that callers of `JUST_ROUTES` may create. */
  const newRouteName = () => FRESH_ROUTES[(made += 1) % FRESH_ROUTES.length] ?? '';
  const remove = (path: string) => () => admin.delete(path);

  const waiting = { headers: { prefer: 'wait=10' } };
  let restorable: { readonly version: number; readonly path: string } | undefined;
  /** The newest version of `production`, which contains all earlier changes. */
  const newestVersion = async () => {
    const path = `/v1/services/${serviceId}`;
    restorable = undefined;
    const { status } = await admin.patch(path, { health_path: `/${newName('health')}` }, waiting);
    const versions = (await admin.get('/v1/config/versions?environment=production&limit=1')).page();
    return status === 200 ? Number(versions.data[0]?.['version']) : NaN;
  };
  /** A version, and a later one in which the route is different. Reading does not change them. */
  const twoVersions = once(async () => {
    const from = await newestVersion();
    await admin.patch(`/v1/routes/${routeId}`, { timeout_ms: 5000 + from }, waiting);
    return { from, to: await newestVersion() };
  });

  /** A version of `production` that differs from the present one only by a service; a rollback to it may be repeated. */
  const changedVersion = async (): Promise<number> => {
    const { version, path } = (restorable ??= await restorableVersion());
    await admin.patch(path, { health_path: `/${newName('changed')}` });
    return version;
  };
  const restorableVersion = async () => {
    const { id } = await gateway.service({ name: newName('service') });
    return { version: await newestVersion(), path: `/v1/services/${id}` };
  };

  const newService = async (body?: object): Promise<ManagementCall> => {
    const path = `/v1/services/${(await gateway.service({ name: newName('service') })).id}`;
    return { path, ...(body && { body }), cleanUp: remove(path) };
  };
  const newRoute = async (body?: object): Promise<ManagementCall> => {
    const { id } = await gateway.route({ name: newRouteName(), service_id: serviceId });
    const path = `/v1/routes/${id}`;
    return { path, ...(body && { body }), cleanUp: remove(path) };
  };
  const reach = { environments: ['production'], routes: ['orders'], scopes: ['proxy'] };
  const newToken = async (suffix = '', body?: object): Promise<ManagementCall> => {
    const token = await admin.create('/v1/tokens', { name: newName('token'), ...reach });
    const path = `/v1/tokens/${token.id}`;
    return { path: path + suffix, ...(body && { body }), cleanUp: remove(path) };
  };
  /** Removes what a call has created with this name. */
  const removeNamed = (list: string, name: string) => async () => {
    const filter = `environment=production&name=${name}`;
    const { data } = (await admin.get(`${list}?${filter}`)).page();
    const found = data.find((one) => one['name'] === name);
    if (found !== undefined) await admin.delete(`${list}/${found.id}`);
  };

  return {
    reach,
    newName,
    newService,
    newRoute,
    newToken,
    remove,
    removeNamed,
    newRouteName,
    changedVersion,
    twoVersions,
  };
}

/** The work is done at the first call; later calls get its result. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= work());
}
