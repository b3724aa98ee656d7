import { closedPort } from '@gateway/shared/test/upstream';
import { eventually } from '@gateway/shared/test/eventually';
import type { Gateway } from '../../harness/gateway.ts';
import { sendPastTraffic } from './past-traffic.ts';
import type { ShopUpstream } from './shop-upstream.ts';

const INGEST_MS = 180_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** What the addresses of pages need. */
export interface Scene {
  readonly routeId: string;
  readonly splitId: string;
  readonly serviceId: string;
  /** A service that does not run. */
  readonly failingServiceId: string;
  /** A request that was retried, and one that a quota refused. */
  readonly retriedId: string;
  readonly refusedId: string;
  /** One that failed, because its service does not run. */
  readonly failedId: string;
}

/** Fills a gateway with what a small shop would have: services, routes, tokens, changes and a day of traffic. */
export async function fillScene(gateway: Gateway, upstream: ShopUpstream): Promise<Scene> {
  const { admin } = gateway;
  const service = (name: string, fields: object = {}) =>
    gateway.service({ name, url: upstream.url, ...fields });
  const regions = [
    { url: `${upstream.url}/eu`, region: 'eu-west' },
    { url: `${upstream.url}/us`, region: 'us-east' },
  ];
  const credential = { type: 'bearer', token: 'the-token-of-the-upstream' };
  const payments = await service('payments', {
    url: undefined,
    upstreams: regions,
    credential,
    health_path: '/healthz',
  });
  const canary = await service('payments-next', { credential, health_path: '/healthz' });
  const orders = await service('orders', { health_path: '/healthz' });
  const catalogue = await service('catalogue', { url: undefined, upstreams: regions });
  await service('accounts');
  const down = `http://127.0.0.1:${await closedPort()}`;
  const mail = await service('notifications', { url: down, health_path: '/healthz' });

  const charges = await gateway.route({
    name: 'charges',
    service_id: payments.id,
    methods: ['GET', 'POST'],
    timeout_ms: 2000,
    retry_count: 2,
    retry: { unsafe_methods: 'with_idempotency_key', per_attempt_timeout_ms: 800 },
    rate_limit: { limit: 600, window_seconds: 60, per: 'token' },
    match: [
      {
        hosts: ['api.shop.example', '*.partners.shop.example'],
        paths: [{ prefix: '/v2/charges' }, { exact: '/v2/charge-status' }],
        headers: [{ name: 'X-Api-Version', value: '2' }],
      },
    ],
  });
  const refunds = await admin.create('/v1/routes', {
    name: 'refunds',
    versions: [
      { name: 'stable', service_id: payments.id, weight: 90 },
      { name: 'canary', service_id: canary.id, weight: 10 },
    ],
  });
  const plain = [
    ['orders', orders.id, 42, 38, 0.4],
    ['order-events', orders.id, 12, 24, 0.2],
    ['products', catalogue.id, 64, 18, 0.1],
    ['search', catalogue.id, 30, 120, 1.6],
    ['e-mails', mail.id, 3, 900, 12],
  ] as const;
  for (const [name, serviceId] of plain) await gateway.route({ name, service_id: serviceId });
  const search = (await admin.get('/v1/routes?name=search')).page().data[0];
  const quota = { limit: 45, window_seconds: 60, per: 'route' };
  await admin.patch(`/v1/routes/${search?.id ?? ''}`, { rate_limit: quota });
  await gateway.route({ name: 'invoices', service_id: orders.id, status: 'disabled' });
  const scarce = await gateway.route({
    name: 'exports',
    service_id: orders.id,
    rate_limit: { limit: 1, window_seconds: 3600, per: 'route' },
  });
  for (const name of ['shop', 'billing', 'warehouse']) {
    await admin.create('/v1/tokens', { name, environments: ['production'], scopes: ['proxy'] });
  }
  await makeTokens(admin);
  await admin.patch(`/v1/routes/${charges.id}`, { timeout_ms: 3000 });
  const operator = await gateway.tokenClient({ name: 'ana', scopes: ['*'] });
  await operator.patch(`/v1/routes/${refunds.id}`, {
    versions: [
      { name: 'stable', service_id: payments.id, weight: 75 },
      { name: 'canary', service_id: canary.id, weight: 25 },
    ],
  });
  await operator.patch(`/v1/routes/${charges.id}`, {
    retry_count: 3,
    methods: ['GET', 'POST', 'PUT'],
    retry: { backoff_ms: 40 },
  });
  const served = { headers: { prefer: 'wait=20' } };
  await admin.patch(`/v1/routes/${scarce.id}`, { retry_count: 0 }, served);

  const traffic = [...plain, ['charges', payments.id, 20, 64, 0.3] as const];
  const past = traffic.map(([name, serviceId, requestsPerMinute, medianMs, errorPercent]) => {
    const upstreamUrl = upstream.url;
    return { name, serviceId, upstreamUrl, requestsPerMinute, medianMs, errorPercent };
  });
  const split = { name: 'refunds', upstreamUrl: upstream.url };
  const ofVersions = [
    { ...split, version: 'stable', serviceId: payments.id, requestsPerMinute: 18 },
    { ...split, version: 'canary', serviceId: canary.id, requestsPerMinute: 6 },
  ].map((one, at) => ({ ...one, medianMs: 40 + 22 * at, errorPercent: 0.3 + 3 * at }));
  const sent = await sendPastTraffic(gateway.stack.natsUrl, [...past, ...ofVersions], Date.now());
  await ingested(gateway, sent);
  return {
    routeId: charges.id,
    splitId: refunds.id,
    serviceId: payments.id,
    failingServiceId: mail.id,
    retriedId: await idOf(gateway, 'charges/retried/invoice-17', 'GET'),
    refusedId: await refusedId(gateway),
    failedId: await idOf(gateway, 'e-mails/17', 'POST'),
  };
}

/** Tokens of several kinds, some of which end soon. */
async function makeTokens(admin: Gateway['admin']): Promise<void> {
  const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
  const tokens = [
    { name: 'ci', scopes: ['services:write', 'services:read', 'routes:write', 'routes:read'] },
    { name: 'grafana', scopes: ['requests:read', 'services:read'], expires_at: inDays(6) },
    { name: 'mobile-app', scopes: ['proxy'], routes: ['orders', 'products', 'search', 'charges'] },
    { name: 'partner-north', scopes: ['proxy'], routes: ['charges'], expires_at: inDays(80) },
    { name: 'staging-tests', scopes: ['proxy', 'routes:read'], environments: ['development'] },
  ];
  for (const token of tokens) {
    await admin.create('/v1/tokens', { environments: ['production'], ...token });
  }
}

/** Resolves when the statistics count the records, because charts would otherwise end early. */
async function ingested({ admin }: Gateway, records: number): Promise<void> {
  const from = new Date(Date.now() - 25 * 60 * 60 * 1000).toISOString();
  const check = async () => {
    const answer = await admin.get(`/v1/stats?environment=production&step=15m&from=${from}`);
    const { total } = answer.resource() as unknown as { readonly total: { requests: number } };
    if (total.requests < records) throw new Error(`${total.requests} of ${records} are counted`);
  };
  await eventually(check, { deadlineMs: INGEST_MS, intervalMs: 1000 });
}

async function idOf({ admin }: Gateway, path: string, method: string): Promise<string> {
  const { headers } = await admin.proxy(path, { method });
  return headers.get('x-request-id') ?? '';
}

async function refusedId(gateway: Gateway): Promise<string> {
  await idOf(gateway, 'exports', 'POST');
  return idOf(gateway, 'exports', 'POST');
}

/** Sends traffic through the routes, one request in `everyMs`. @returns the end */
export function startTraffic({ admin }: Gateway, everyMs: number): () => void {
  const paths = [
    'products/lamps',
    'orders/4711',
    'products/chairs/17',
    'charges',
    'search',
    'refunds',
    'products/lamps/3',
    'orders',
    'charges/invoice-18',
    'order-events',
  ];
  let sent = 0;
  const timer = setInterval(() => {
    const path = sent % 60 === 59 ? 'orders/failing' : (paths[sent % paths.length] ?? '');
    const method = path.includes('/') ? 'GET' : 'POST';
    sent += 1;
    // A request that fails is traffic too.
    admin.proxy(path, { method }).catch(() => undefined);
  }, everyMs);
  return () => clearInterval(timer);
}
