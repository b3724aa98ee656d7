import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '@gateway/shared/test/upstream';
import type { Client } from '../../harness/client.ts';
import type { Gateway } from '../../harness/gateway.ts';

const CALLERS = 60;
const PAUSE_MS = 250;

/** An upstream that is slower, and fails more often, below `/canary`. */
export function startShop() {
  let served = 0;
  return listen(
    createServer(({ url = '' }, response) => {
      if (url.includes('healthz')) return void response.end('{}');
      served += 1;
      const isCanary = url.startsWith('/canary');
      const fastestMs = isCanary ? 55 : url.includes('search') ? 90 : 22;
      const ms = fastestMs + ((served * 37) % 60) * (served % 19 === 0 ? 6 : 1);
      const isFailed = served % (isCanary ? 11 : 170) === 0;
      setTimeout(() => response.writeHead(isFailed ? 503 : 200).end('{"items":[]}'), ms).unref();
    }),
  );
}

/** Services and routes of a shop, and callers that keep on calling until the signal aborts. */
export async function openShop({ admin, dataPlanes, ...gateway }: Gateway, url: string) {
  const service = (name: string, its: string) =>
    admin.create('/v1/services', { name, environment: 'production', url: its });
  const payments = await service('payments', url);
  const next = await service('payments-next', `${url}/canary`);
  const orders = await service('orders', url);
  const catalogue = await service('catalogue', url);
  const mail = await service('notifications', 'http://127.0.0.1:1');
  const versions = (stable: number, canary: number) => [
    { name: 'stable', service_id: payments.id, weight: stable },
    { name: 'canary', service_id: next.id, weight: canary },
  ];
  const charges = await admin.create('/v1/routes', {
    name: 'charges',
    retry_count: 0,
    versions: versions(95, 5),
  });
  const plain = { orders, search: catalogue, products: catalogue, 'e-mails': mail };
  for (const [name, { id }] of Object.entries(plain)) {
    await gateway.route({ name, service_id: id });
  }
  const rate_limit = { limit: 20, window_seconds: 10 };
  await gateway.route({ name: 'exports', service_id: orders.id, rate_limit });
  await gateway.settled();
  const callers: Client[] = [];
  while (callers.length < CALLERS) callers.push(await gateway.tokenClient());
  const urls = dataPlanes.map(({ baseUrl }) => baseUrl);
  let sent = 0;
  const call = async (route: string) => {
    sent += 1;
    const client = callers[sent % CALLERS]?.at(urls[sent % urls.length] ?? '');
    await client?.proxy(`${route}/x`, { method: 'GET' });
  };
  return {
    /** Gives the canary this part of the requests, in percent. */
    shift: (percent: number) =>
      admin.patch(`/v1/routes/${charges.id}`, { versions: versions(100 - percent, percent) }),
    keepCalling: async (signal: AbortSignal): Promise<void> => {
      for (let round = 0; !signal.aborted; round += 1) {
        const rate = 1 + 0.35 * Math.sin(round / 160);
        const counts = { charges: 9 * rate, orders: 4, search: 3 * rate, products: 2, exports: 2 };
        const routes = Object.entries({ ...counts, 'e-mails': round % 5 === 0 ? 1 : 0 }).flatMap(
          ([name, count]) => Array.from({ length: Math.round(count) }, () => name),
        );
        await Promise.all([...routes.map(call), sleep(PAUSE_MS)]);
      }
    },
  };
}
