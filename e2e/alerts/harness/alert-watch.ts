import { eventually } from '@gateway/shared/test/eventually';
import { z } from 'zod';
import { startPrometheus } from '../../harness/prometheus-server.ts';

/** A process that Prometheus scrapes. */
interface Target {
  readonly adminUrl: string;
}

/** The alerts of a gateway, as Prometheus evaluates the delivered rules once a second. */
export interface AlertWatch {
  /** Names of the alerts that fire now. */
  firing(): Promise<string[]>;
  /** Names of the alerts that have fired at any time. */
  fired(): Promise<string[]>;
  /** Resolves when the alert fires. */
  fires(alert: string): Promise<void>;
  /** Resolves when the alert fires no more. */
  resolves(alert: string): Promise<void>;
  /** How often each process has been scraped; the rules are evaluated as often. */
  scrapes(): Promise<number>;
  close(): Promise<void>;
}

const INTERVAL = '1s';
/** An outcome that is not stored is given up after 30 s, and a claim after 30 attempts of a second or more. */
const WAIT = { deadlineMs: 100_000, intervalMs: 250 };

const alertList = z.object({
  data: z.object({
    alerts: z.array(
      z.object({ state: z.string(), labels: z.looseObject({ alertname: z.string() }) }),
    ),
  }),
});
const sample = z.object({
  data: z.object({
    result: z.array(
      z.object({
        metric: z.object({ alertname: z.string().optional() }),
        value: z.tuple([z.number(), z.string()]),
      }),
    ),
  }),
});

/** Starts Prometheus for these processes. All of them must be given, also those that a test starts again on their ports. */
export async function watchAlerts(
  controlPlanes: readonly Target[],
  dataPlanes: readonly Target[],
): Promise<AlertWatch> {
  const addresses = (planes: readonly Target[]) =>
    planes.map(({ adminUrl }) => new URL(adminUrl).host);
  const prometheus = await startPrometheus(
    {
      'gateway-control-plane': addresses(controlPlanes),
      'gateway-data-plane': addresses(dataPlanes),
      'gateway-ready': [...controlPlanes, ...dataPlanes].map(
        ({ adminUrl }) => `${adminUrl}/readyz`,
      ),
    },
    { interval: INTERVAL },
  );
  const ask = async (what: string): Promise<unknown> =>
    (await fetch(`${prometheus.url}/api/v1/${what}`)).json();

  const query = async (expr: string) =>
    sample.parse(await ask(`query?${new URLSearchParams({ query: expr }).toString()}`)).data.result;

  async function firing(): Promise<string[]> {
    const { alerts } = alertList.parse(await ask('alerts')).data;
    const names = alerts
      .filter(({ state }) => state === 'firing')
      .map((one) => one.labels.alertname);
    return [...new Set(names)].toSorted();
  }

  return {
    firing,
    async fired() {
      const result = await query(
        'count by (alertname) (max_over_time(ALERTS{alertstate="firing"}[10m]))',
      );
      return result.map(({ metric }) => String(metric.alertname)).toSorted();
    },
    async fires(alert) {
      await eventually(async () => {
        if (!(await firing()).includes(alert)) throw new Error(`${alert} does not fire`);
      }, WAIT);
    },
    async resolves(alert) {
      await eventually(async () => {
        if ((await firing()).includes(alert)) throw new Error(`${alert} still fires`);
      }, WAIT);
    },
    async scrapes() {
      const result = await query('min(count_over_time(up[10m]))');
      return Number(result[0]?.value[1] ?? 0);
    },
    close: () => prometheus.close(),
  };
}
