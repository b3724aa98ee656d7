import { expect } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import type { Gateway } from '../../harness/gateway.ts';

/** Resources whose names and texts are as long and as hostile as the API permits. */
export interface HostileResources {
  /** The pages that show them. */
  readonly paths: readonly string[];
  /** That of a route without a place where its name may break. */
  readonly routePath: string;
}

const MAX_NAME = 63;
const SOLID = 'w'.repeat(MAX_NAME);
const ENVIRONMENT = 'e'.repeat(MAX_NAME);
const DATA_PLANE = 'd'.repeat(64);
const MARKUP = '<img src=x onerror=alert(1)><b><b>bold</b></b>';
const TURNED = '\u202Egnp.exe שלום عربى';

/** Makes an environment of them, with a data plane and a change. */
export async function addHostileResources(gateway: Gateway): Promise<HostileResources> {
  const { admin, stack } = gateway;
  await stack.startDataPlane({ name: DATA_PLANE, env: { REGION: 'r'.repeat(MAX_NAME) } });
  await admin.create('/v1/environments', { name: ENVIRONMENT });
  const host = `${'u'.repeat(MAX_NAME)}.${'v'.repeat(MAX_NAME)}.example`;
  const { id: service } = await admin.create('/v1/services', {
    name: SOLID,
    environment: ENVIRONMENT,
    url: `http://${host}/${'path'.repeat(40)}`,
    health_check: { interval_ms: 1000 },
  });
  const versions = ['stable', 'v'.repeat(40), 'third', 'fourth', 'canary'].map((name, at) => ({
    name,
    service_id: service,
    weight: at === 0 ? 60 : 10,
  }));
  const headers = [{ name: 'X-Markup', value: MARKUP }];
  const paths = [{ prefix: `/${'p'.repeat(200)}` }];
  const bodies = [
    { name: SOLID, versions, match: [{ hosts: [host], paths, headers }] },
    { redirect: { status: 308, location: `https://${host}/${'l'.repeat(1800)}` } },
    { respond: { status: 503, body: `${MARKUP}${TURNED}${'b'.repeat(3000)}` } },
    {
      service_id: service,
      auth: {
        type: 'jwt',
        issuer: `https://${host}/${'i'.repeat(200)}`,
        audience: [MARKUP, TURNED],
        jwks_url: 'http://127.0.0.1:9/keys',
        required_claims: { [MARKUP]: [TURNED, 'x'.repeat(200)] },
      },
    },
  ];
  const routes: string[] = [];
  for (const [at, body] of bodies.entries()) {
    const name = `${at}`.padEnd(MAX_NAME, 'n');
    const made = await admin.create('/v1/routes', { environment: ENVIRONMENT, name, ...body });
    routes.push(made.id);
  }
  await admin.patch(`/v1/routes/${routes[0]}`, { timeout_ms: 2001 });
  await admin.create('/v1/tokens', {
    name: 'W'.repeat(MAX_NAME),
    environments: [ENVIRONMENT],
    scopes: ['services:write', 'services:read', 'routes:read', 'audit:read'],
    routes: Array.from({ length: 30 }, (_none, at) => `${at}`.padEnd(MAX_NAME, 'z')),
  });

  // The overview says of a service that fails in which regions.
  await eventually(async () => {
    expect((await admin.get(`/v1/services/${service}`)).resource()['status']).toBe('unhealthy');
  });

  const lists = ['overview', 'services', 'routes', 'requests', 'callers', 'tokens', 'data-planes'];
  const others = ['configuration', 'configuration/2', 'configuration/2/roll-back', 'audit'];
  const pages = [
    ...[...lists, ...others, 'environments'].map((page) => `/${page}`),
    `/services/${service}`,
    `/data-planes/${DATA_PLANE}`,
    ...routes.flatMap((id) =>
      ['', '?tab=policies', '?tab=history'].map((tab) => `/routes/${id}${tab}`),
    ),
    `/routes/${routes[0]}?tab=versions`,
    `/routes/${routes[0]}?tab=explain`,
    `/routes/${routes[0]}/edit`,
  ];
  return {
    paths: pages.map(withEnvironment),
    routePath: withEnvironment(`/routes/${routes[0]}`),
  };
}

function withEnvironment(path: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}environment=${ENVIRONMENT}`;
}
