import {
  POOL_VARIABLE,
  type PlaneAddress,
  type PooledGateway,
} from '@gateway/testing/gateway-pool';
import type { TestUpstream } from '@gateway/shared/test/upstream';
import { createClient, type Client, type Page, type Resource } from './client.ts';
import { resourceMakers, type ResourceMakers } from './resource-makers.ts';
import { startRecordingUpstream } from './upstream.ts';

const BUILT_IN_ENVIRONMENTS = ['production', 'development'];
/** A removed route is gone from every data plane when the next suite begins. */
const wait = { headers: { prefer: 'wait=20' } };

/**
 * A gateway of two data planes that other suites have used and will use, with an upstream of its own. It holds no service, no
 * route and no token but that of the admin when a suite gets it; records, audit events, versions and what quotas counted under the name of a route remain from earlier suites.
 */
export interface BorrowedGateway extends ResourceMakers {
  readonly databaseUrl: string;
  readonly controlPlane: PlaneAddress;
  readonly dataPlanes: readonly PlaneAddress[];
  readonly upstream: TestUpstream;
  /** Calls the first data plane with the admin token. */
  readonly admin: Client;
  /** Removes what the suite made, and gives the gateway back. */
  close(): Promise<void>;
}

/** For a suite that needs a gateway with the default settings, and stops no process of it. */
export async function borrowGateway(): Promise<BorrowedGateway> {
  const { id, loan, adminToken, databaseUrl, controlPlane, dataPlanes } = (await (
    await post('/borrow')
  ).json()) as PooledGateway;
  const upstream = await startRecordingUpstream();
  const admin = createClient(dataPlanes[0]?.baseUrl ?? '', adminToken);
  return {
    databaseUrl,
    controlPlane,
    dataPlanes,
    upstream,
    admin,
    ...resourceMakers(admin, dataPlanes, upstream, `${loan}-`),
    async close() {
      await upstream.close();
      try {
        await removeResources(admin);
      } catch (error) {
        await post(`/discard?id=${id}`);
        throw error;
      }
      await post(`/return?id=${id}`);
    },
  };
}

async function post(path: string): Promise<Response> {
  const response = await fetch(`${process.env[POOL_VARIABLE]}${path}`, { method: 'POST' });
  if (!response.ok) throw new Error(`the pool of gateways: ${await response.text()}`);
  return response;
}

/** Removes every resource of the gateway but the admin token and the environments of a new one. */
async function removeResources(admin: Client): Promise<void> {
  for (const kind of ['routes', 'services', 'tokens']) {
    const ids = (await all(admin, `/v1/${kind}`)).filter((one) => one['name'] !== 'admin');
    await Promise.all(ids.map(({ id }) => remove(admin, `/v1/${kind}/${id}`)));
  }
  for (const { name } of (await admin.get('/v1/environments')).page().data) {
    if (BUILT_IN_ENVIRONMENTS.includes(String(name))) continue;
    await remove(admin, `/v1/environments/${String(name)}`);
  }
}

async function all(admin: Client, path: string): Promise<Resource[]> {
  const found: Resource[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Page = (await admin.get(`${path}?limit=200${query}`)).page();
    found.push(...page.data);
    cursor = page.next_cursor;
  }
  return found;
}

async function remove(admin: Client, path: string): Promise<void> {
  const { status, body } = await admin.delete(path, wait);
  if (status !== 204) throw new Error(`DELETE ${path}: ${status} ${body}`);
}
