import { readFile } from 'node:fs/promises';
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

describe('docs/run/metrics.md', () => {
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

  it('lists every metric of both planes with its type and meaning, and no other', () => {
    const rows = documented
      .map(([, name = '', type, , , meaning]) => `${name.slice(1, -1)} ${type}: ${meaning}`)
      .filter((row) => {
        const name = row.split(' ')[0] ?? '';
        return ![ONLY_WITH_TLS, ONLY_WITH_OTLP, ONLY_WITH_WORKERS].some((one) => one.test(name));
      });
    const all = [...new Set(texts.flatMap(registered))];
    expect(rows.toSorted()).toEqual(all.toSorted());
  });

  it('lists every label that a metric shows', () => {
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
