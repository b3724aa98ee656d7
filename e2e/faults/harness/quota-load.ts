import { startUpstream } from '@gateway/shared/test/upstream';
import { countWindows, type WindowCount } from '../../quota-schedules/granted-windows.ts';
import { startWindowLoad } from '../../quota-schedules/window-load.ts';
import type { FaultWorld } from './fault-world.ts';

/** A route with a quota, and callers who use it up in each window through every data plane. */
export interface QuotaLoad {
  /** Calls until `stop`, which says what was granted in each window. */
  start(): { stop(): Promise<readonly WindowCount[]> };
  close(): Promise<void>;
}

export const QUOTA = { limit: 100, window_seconds: 2 };
const ROUTE = 'load-quota';
/** To each data plane: two of them get more than the limit. */
const PER_SECOND = 60;

export async function openQuotaLoad({ gateway, dataPlanes }: FaultWorld): Promise<QuotaLoad> {
  const arrivals = new Map<string, number>();
  const upstream = await startUpstream(({ url }, response) => {
    const call = new URL(url, 'http://upstream').searchParams.get('call');
    if (call !== null) arrivals.set(call, Date.now());
    response.end('ok');
  });
  try {
    const { id } = await gateway.service({ url: upstream.url });
    await gateway.route({ name: ROUTE, service_id: id, rate_limit: QUOTA });
    await gateway.settled();
  } catch (error) {
    await upstream.close();
    throw error;
  }
  return {
    start() {
      arrivals.clear();
      const targets = dataPlanes.map(({ baseUrl }) => ({ route: ROUTE, baseUrl }));
      const load = startWindowLoad(targets, gateway.admin.token, PER_SECOND);
      return {
        stop: async () => countWindows(await load.stop(), arrivals, QUOTA.window_seconds * 1000),
      };
    },
    close: () => upstream.close(),
  };
}
