import { once } from 'node:events';
import { connect } from 'node:net';
import type { Answer } from '../harness/client.ts';
import type { Gateway } from '../harness/gateway.ts';

export interface MixedTraffic {
  /** Sends each kind of request and changes the configuration. */
  round(): Promise<void>;
  /** How often callers got each status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** How many attempts were retries. */
  retries(): number;
}

/** More than the slot of the service that has one. */
const AT_ONCE = 3;

/** Routes whose requests succeed, fail, are retried, refused, limited and replayed. */
export async function prepareMixedTraffic(gateway: Gateway): Promise<MixedTraffic> {
  const { admin, upstream } = gateway;
  const adaptive = await gateway.service({ limits: { adaptive: true } });
  const orders = await gateway.route({ name: 'orders', service_id: adaptive.id });
  await gateway.route({ name: 'limited', rate_limit: { limit: 2, window_seconds: 1 } });
  const oneSlot = await gateway.service({
    url: `${upstream.url}/slow/100`,
    limits: { max_in_flight: 1 },
  });
  await gateway.route({ name: 'narrow', service_id: oneSlot.id });
  const away = await gateway.service({
    url: 'http://127.0.0.1:1',
    health_check: { interval_ms: 500, timeout_ms: 500 },
  });
  await gateway.route({ name: 'away', service_id: away.id });
  // One of its versions fails.
  await admin.create('/v1/routes', {
    name: 'canary',
    versions: [
      { name: 'stable', service_id: adaptive.id, weight: 1 },
      { name: 'next', service_id: away.id, weight: 1 },
    ],
  });
  const auth = { type: 'jwt', issuer: 'https://issuer', audience: 'a', jwks_url: upstream.url };
  await gateway.route({ name: 'with-jwt', auth });
  await gateway.settled();
  const statuses = new Map<number, number>();
  const urls = gateway.dataPlanes.map(({ baseUrl }) => baseUrl);
  let rounds = 0;

  async function round(): Promise<void> {
    rounds += 1;
    const headers = { 'idempotency-key': `key-${rounds}` };
    const sending = urls.flatMap((url) => {
      const client = admin.at(url);
      return [
        client.proxy('orders'),
        client.proxy('orders/status/503', { method: 'GET' }),
        client.proxy('away', { method: 'GET' }),
        client.proxy('with-jwt', { token: 'e30.e30.e30' }),
        client.proxy('orders', { token: null }),
        client.proxy('no-such-route'),
        client.proxy('canary', { headers: { 'x-gateway-version': 'stable' } }),
        client.proxy('canary', { headers: { 'x-gateway-version': 'next' } }),
        ...Array.from({ length: AT_ONCE }, () => client.proxy('limited')),
        ...Array.from({ length: AT_ONCE }, () => client.proxy('narrow')),
        client.proxy('orders', { headers }),
        // Its upstream speaks no gRPC: the call ends with UNKNOWN.
        client.proxy('orders', { headers: { 'content-type': 'application/grpc' } }),
      ];
    });
    const change = admin.patch(
      `/v1/routes/${orders.id}`,
      { timeout_ms: 10_000 + rounds },
      { headers: { prefer: 'wait=5' } },
    );
    for (const { status } of await Promise.all(sending)) count(status);
    count((await replay(headers)).status);
    await Promise.all([change, ...malformed()]);
  }

  const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const replay = (headers: Record<string, string>): Promise<Answer> =>
    admin.proxy('orders', { headers });
  const malformed = () =>
    [...urls, gateway.controlPlane.baseUrl].map((url) => sendMalformed(Number(new URL(url).port)));
  const retries = () =>
    upstream.seen.filter(({ url }) => url.endsWith('/status/503')).length - rounds * urls.length;
  return { round, statuses, retries };
}

/** Sends bytes that are not HTTP, and over TLS no handshake. Resolves when the server has closed the connection. */
export async function sendMalformed(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.end('not HTTP\r\n\r\n');
  socket.resume();
  // A reset and a normal end are the same here.
  socket.on('error', () => undefined);
  await once(socket, 'close');
}
