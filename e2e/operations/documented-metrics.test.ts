import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { findPrometheus } from '@gateway/testing/prometheus';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const page = new URL('../../docs/run/metrics.md', import.meta.url);
/** Registered only by a plane that has a certificate; this test runs without. */
const ONLY_WITH_TLS = /^gateway_tls_/;
/** Registered only by a plane that exports traces or metrics over OTLP. */
const ONLY_WITH_OTLP = /^gateway_(spans|metric_exports)_/;
/** Registered only by the primary of a group of workers. */
const ONLY_WITH_WORKERS = /^gateway_(workers|worker_restarts_total|connections_unassigned_total)$/;

/** `name type: meaning` of each metric of ours. */
function registered(text: string): string[] {
  const types = new Map(
    [...text.matchAll(/^# TYPE (gateway_\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]),
  );
  return [...text.matchAll(/^# HELP (gateway_\S+) (.*)$/gm)].map(
    ([, name = '', help]) => `${name} ${types.get(name)}: ${help}`,
  );
}

describe('the metrics of both planes', () => {
  let gateway: Gateway;
  let documented: string[][];
  let texts: string[];

  beforeAll(async () => {
    gateway = await startGateway();
    await gateway.route({ name: 'orders' });
    await gateway.settled();
    await gateway.admin.proxy('orders');
    const admins = [gateway.controlPlane.adminUrl, gateway.dataPlanes[0]?.adminUrl];
    texts = await Promise.all(admins.map(async (url) => (await fetch(`${url}/metrics`)).text()));
    documented = (await readFile(page, 'utf8'))
      .split('\n')
      .filter((line) => line.startsWith('| `gateway_'))
      .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));
  }, 60_000);
  afterAll(() => gateway.close());

  it('have names, types and units as promtool expects them', async () => {
    const { promtool } = await findPrometheus({ log: () => undefined });
    for (const input of texts) {
      // Throws with what promtool found.
      execFileSync(promtool, ['check', 'metrics'], { input, stdio: 'pipe' });
    }
  }, 180_000);

  it('are in docs/run/metrics.md with type and meaning, and no others', () => {
    const rows = documented
      .map(([, name = '', type, , , meaning]) => `${name.slice(1, -1)} ${type}: ${meaning}`)
      .filter((row) => {
        const name = row.split(' ')[0] ?? '';
        return ![ONLY_WITH_TLS, ONLY_WITH_OTLP, ONLY_WITH_WORKERS].some((one) => one.test(name));
      });
    const all = [...new Set(texts.flatMap(registered))];
    expect(rows.toSorted()).toEqual(all.toSorted());
  });

  it('have only the labels that docs/run/metrics.md lists', () => {
    const labels = new Map(
      documented.map(([, name = '', , cell = '']) => [name.slice(1, -1), cell]),
    );
    const missing = texts
      .flatMap((text) => [...text.matchAll(/^(gateway_\w+)\{(.*)\} /gm)])
      .flatMap(([, series = '', shown = '']) => {
        const base = series.replace(/_(bucket|sum|count)$/, '');
        const cell = labels.get(series) ?? labels.get(base) ?? '';
        const names = [...shown.matchAll(/(\w+)="/g)].map(([, name = '']) => name);
        return names
          .filter((name) => name !== 'le' && !cell.includes(`\`${name}\``))
          .map((name) => `${base}{${name}}`);
      });
    expect([...new Set(missing)]).toEqual([]);
  });
});
