import { createTestAuthority } from '@gateway/shared/test/certificates';
import { eventually } from '@gateway/shared/test/eventually';
import {
  writeCertificateFiles,
  type TestCertificateFiles,
} from '@gateway/shared/test/served-certificate';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { startGateway, type Gateway } from '../harness/gateway.ts';
import { startPrometheus, type PrometheusServer } from '../harness/prometheus-server.ts';
import { panelQueries, selectorsOf, variableQueries } from './dashboard-queries.ts';
import { prepareMixedTraffic, sendMalformed, type MixedTraffic } from './mixed-traffic.ts';

const DEADLINE_MS = 30_000;
/** What is chosen on a dashboard: the route with versions where they are compared. */
const chosen = (uid: string) => ({
  environment: 'production',
  route: uid === 'gateway-canary' ? 'canary' : 'orders',
});
const vector = z.object({
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
});
const values = z.object({ data: z.array(z.string()) });

/** Asks Prometheus. @throws Error with its message, as for a query that it cannot parse */
async function ask(url: string, path: string, parameters: Record<string, string>) {
  const response = await fetch(
    `${url}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`,
  );
  const text = await response.text();
  if (!response.ok) throw new Error(`${JSON.stringify(parameters)}: ${text}`);
  return JSON.parse(text) as unknown;
}

describe('the dashboards, while traffic runs', () => {
  let gateway: Gateway;
  let prometheus: PrometheusServer;
  let traffic: MixedTraffic;
  let securePort: number;
  let certificate: TestCertificateFiles;

  beforeAll(async () => {
    gateway = await startGateway({
      controlPlaneStart: { env: { CONSOLE_URL: 'https://gateway.example.com/console' } },
    });
    certificate = await writeCertificateFiles(createTestAuthority('planes'), ['127.0.0.1']);
    const { certFile, keyFile } = certificate;
    const group = await gateway.stack.startDataPlane({
      env: { WORKERS: '2', TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile },
    });
    securePort = Number(group.ports[0]);
    const dataPlanes = [...gateway.dataPlanes, group].map(({ adminUrl }) => adminUrl);
    const admins = [gateway.controlPlane.adminUrl, ...dataPlanes];
    const addressOf = (url: string) => new URL(url).host;
    prometheus = await startPrometheus({
      'gateway-control-plane': [addressOf(gateway.controlPlane.adminUrl)],
      'gateway-data-plane': dataPlanes.map(addressOf),
      'gateway-ready': admins.map((url) => `${url}/readyz`),
    });
    traffic = await prepareMixedTraffic(gateway);
  }, 180_000);

  afterAll(async () => {
    await prometheus.close();
    await gateway.close();
    await certificate.remove();
  });

  /** How many series with a number an expression has. */
  async function series(expr: string): Promise<number> {
    const { data } = vector.parse(await ask(prometheus.url, 'query', { query: expr }));
    return data.result.filter(({ value }) => Number.isFinite(Number(value[1]))).length;
  }

  /** Sends traffic until none of these lacks series, and returns those that still do at the deadline. */
  async function lacking(queries: readonly string[]): Promise<string[]> {
    let open = queries;
    const check = async () => {
      await Promise.all([traffic.round(), sendMalformed(securePort)]);
      const counts = await Promise.all(open.map(series));
      open = open.filter((_query, index) => counts[index] === 0);
      if (open.length > 0) throw new Error(`${open.length} queries without series`);
    };
    await eventually(check, { deadlineMs: DEADLINE_MS, intervalMs: 400 }).catch(() => undefined);
    return [...open];
  }

  it('have series for every query of every panel, and for every selector in it', async () => {
    const queries = panelQueries(chosen, '4s');
    const whole = queries.map(({ expr }) => expr);
    const parts = whole.flatMap(selectorsOf);
    const missing = new Set(await lacking([...new Set([...whole, ...parts])]));
    const report = queries
      .filter(({ expr }) => missing.has(expr) || selectorsOf(expr).some((one) => missing.has(one)))
      .map(({ where, expr }) => `${where}: ${expr}`);
    expect(report).toEqual([]);
    expect(queries.length).toBeGreaterThan(100);
    const kinds = [200, 401, 404, 429, 503].filter((status) => !traffic.statuses.has(status));
    expect(kinds).toEqual([]);
    expect(traffic.retries()).toBeGreaterThan(0);
  }, 90_000);

  it('offer values for every variable', async () => {
    const queries = variableQueries();
    const offered = await Promise.all(
      queries.map(async ({ label, series: match }) =>
        values.parse(await ask(prometheus.url, `label/${label}/values`, { 'match[]': match })),
      ),
    );
    const empty = queries.filter((_query, index) => offered[index]?.data.length === 0);
    expect(empty).toEqual([]);
    expect(queries.length).toBeGreaterThan(5);
  });
});
