import type { Registry } from 'prom-client';
import type { ConsoleSend } from './http/console/send-handlers.ts';
import { createDataPlaneCaller } from './send/call-data-plane.ts';
import { createSendMetrics } from './send/send-metrics.ts';
import { createSend, type SendOptions } from './send/send.ts';

/**
 * What the console sends requests with.
 *
 * @param url the origin of the data planes; undefined: it sends none
 */
export function createConsoleSend(
  url: URL | undefined,
  registry: Registry,
  deps: Pick<SendOptions, 'db' | 'clock' | 'newId' | 'waits'>,
): ConsoleSend {
  const metrics = createSendMetrics(registry);
  if (url === undefined) return { metrics, send: undefined };
  const { db, clock, newId, waits } = deps;
  const callDataPlane = createDataPlaneCaller(url, clock);
  return { metrics, send: createSend({ db, clock, newId, waits, metrics, callDataPlane }) };
}
