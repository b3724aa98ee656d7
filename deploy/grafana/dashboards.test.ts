import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { LINKED_DASHBOARDS } from '@gateway/shared/links/dashboards';
import { z } from 'zod';
import { schemaErrors } from '../kubernetes/schemas.ts';
import { alertRules } from '../prometheus/alert-rules.ts';
import { readYaml } from '../read-yaml.ts';
import { dashboardFiles, FOLDER } from './dashboard-files.ts';
import { alertLimit } from './parts/alert.ts';
import { Queries } from './parts/query.ts';
import { runbookAt, runbookUrl } from './parts/runbook.ts';

/** `kubectl apply` keeps a copy of a resource in an annotation, and annotations have this limit. */
const MAX_CONFIG_MAP_BYTES = 262_144;
/** Grafana has replaced or removed all others that show numbers over time. */
const PANEL_TYPES = ['row', 'timeseries', 'stat', 'heatmap', 'text'];

const link = z.object({ url: z.string() });
const place = z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() });
const panel = z.object({
  id: z.int(),
  type: z.enum(PANEL_TYPES),
  title: z.string().min(1),
  description: z.string().default(''),
  datasource: z.object({ uid: z.string() }).optional(),
  gridPos: place,
  links: z.array(link).default([]),
  fieldConfig: z
    .object({ defaults: z.object({ unit: z.string().optional() }).default({}) })
    .default({ defaults: {} }),
  targets: z
    .array(z.object({ expr: z.string(), datasource: z.object({ uid: z.string() }) }))
    .default([]),
});
const annotation = z.object({ expr: z.string(), datasource: z.object({ uid: z.string() }) });
const dashboard = z.object({
  uid: z.string(),
  title: z.string(),
  panels: z.array(panel),
  templating: z.object({ list: z.array(z.object({ name: z.string() })) }).default({ list: [] }),
  annotations: z.object({ list: z.array(annotation).default([]) }).default({ list: [] }),
});
const kustomization = z.object({
  generatorOptions: z.looseObject({ labels: z.record(z.string(), z.string()) }),
  configMapGenerator: z.array(z.object({ name: z.string(), files: z.tuple([z.string()]) })),
});

const files = dashboardFiles();
const dashboards = [...files.values()].map((text) => dashboard.parse(JSON.parse(text)));
const panels = dashboards.flatMap(({ title, panels: all }) =>
  all.map((one) => ({ ...one, where: `${title}, ${one.title}` })),
);
const graphs = panels.filter(({ type }) => type !== 'row' && type !== 'text');

it('the files are those of the source; `npm run generate` writes them', () => {
  expect(readdirSync(FOLDER).toSorted()).toEqual([...files.keys()].toSorted());
  for (const [name, text] of files) {
    expect({ name, text: readFileSync(new URL(name, FOLDER), 'utf8') }).toEqual({ name, text });
  }
});

describe('every panel', () => {
  it('has a description, a unit, a query, and the data source that is chosen', () => {
    const incomplete = graphs.filter(
      ({ description, fieldConfig, targets, datasource }) =>
        description.length < 30 ||
        fieldConfig.defaults.unit === undefined ||
        targets.length === 0 ||
        [datasource, ...targets.map((one) => one.datasource)].some(
          (source) => source?.uid !== '${datasource}',
        ),
    );
    expect(incomplete.map(({ where }) => where)).toEqual([]);
    expect(graphs.length).toBeGreaterThan(50);
  });

  it('has a place of its own within the width of the page, and a number of its own', () => {
    const problems = dashboards.flatMap(({ title, panels: all }) =>
      all.flatMap((one, index) => {
        const clash = all.slice(0, index).some((other) => overlap(one.gridPos, other.gridPos));
        const twice = all.slice(0, index).some(({ id }) => id === one.id);
        const wide = one.gridPos.x + one.gridPos.w > 24;
        return clash || twice || wide ? [`${title}, ${one.title}`] : [];
      }),
    );
    expect(problems).toEqual([]);
  });
});

describe('every alert', () => {
  it('has a panel that links to its runbook', () => {
    const urls = new Set(graphs.flatMap(({ links }) => links.map(({ url }) => url)));
    const missing = alertRules().filter(
      ({ annotations }) => !urls.has(runbookUrl(runbookAt(annotations.runbook))),
    );
    expect(missing.map(({ alert }) => alert)).toEqual([]);
  });

  it('has the address of its runbook, and of a dashboard that shows it', () => {
    const wrong = alertRules().filter(({ annotations }) => {
      const runbook = runbookUrl(runbookAt(annotations.runbook));
      const [, uid] = /\/d\/([\w-]+)/.exec(annotations.dashboard_url) ?? [];
      const linked = dashboards.find((one) => one.uid === uid);
      const shown = linked?.panels.some(({ links }) => links.some(({ url }) => url === runbook));
      return !annotations.runbook_url.endsWith(runbook) || shown !== true;
    });
    expect(wrong.map(({ alert }) => alert)).toEqual([]);
  });

  it('has a limit that a threshold can show', () => {
    expect(alertLimit('GatewayEventLoopBlocked')).toEqual({ side: 'above', value: 0.25 });
    expect(alertLimit('GatewayCertificateExpires')).toEqual({ side: 'below', value: 1_209_600 });
    expect(alertLimit('GatewayQuotasWithoutLeases').side).toBe('below');
    for (const { alert } of alertRules()) expect(alertLimit(alert).value).toBeGreaterThan(0);
  });
});

it('leads every link to a panel that exists', () => {
  const wrong = graphs.flatMap(({ where, links }) =>
    links
      .filter(({ url }) => {
        const { pathname, searchParams } = new URL(url, 'http://grafana');
        const target = dashboards.find(({ uid }) => pathname === `/d/${uid}`);
        return !target?.panels.some(({ id }) => String(id) === searchParams.get('viewPanel'));
      })
      .map(({ url }) => `${where}: ${url}`),
  );
  expect(wrong).toEqual([]);
});

it('leads the links of series to dashboards that exist', () => {
  const uids = dashboards.map(({ uid }) => uid);
  const linked = [...files.values()].flatMap((text) => [...text.matchAll(/"\/d\/([\w-]+)/g)]);
  expect(linked.map(([, uid]) => uid).filter((uid) => !uids.includes(uid ?? ''))).toEqual([]);
  expect(linked.some(([, uid]) => uid === 'gateway-route')).toBe(true);
});

it('has the dashboards that pages of the console link to, with the variables that the links set', () => {
  for (const { uid, variables } of Object.values(LINKED_DASHBOARDS)) {
    const linked = dashboards.find((one) => one.uid === uid);
    const names = linked?.templating.list.map(({ name }) => name) ?? [];
    const missing = Object.keys(variables).filter((name) => !names.includes(name));
    expect({ uid: linked?.uid, missing }).toEqual({ uid, missing: [] });
  }
});

it('leads to the console by its address, which a metric has', () => {
  const toConsole = [...files].filter(([, text]) => text.includes('${console}/'));
  expect(toConsole.length).toBeGreaterThan(4);
  const address = 'label_values(gateway_control_plane_links_info, console_url)';
  expect(toConsole.filter(([, text]) => !text.includes(address))).toEqual([]);
});

it('marks new versions of the configuration where traffic, a route, a canary and the rollout are shown', () => {
  const marked = dashboards.filter(({ annotations }) => annotations.list.length > 0);
  expect(marked.map(({ uid }) => uid).toSorted()).toEqual([
    'gateway-canary',
    'gateway-configuration',
    'gateway-route',
    'gateway-traffic',
  ]);
  for (const { annotations } of marked) {
    expect(annotations.list[0]?.datasource.uid).toBe('${datasource}');
    expect(annotations.list[0]?.expr).toContain('count_values by (environment) ("version"');
  }
});

it('refuses metrics, labels and types that docs/run/metrics.md does not have', () => {
  const queries = new Queries(['route']);
  expect(() => queries.perSecond('gateway_request_total')).toThrow(
    'gateway_request_total is not in docs/run/metrics.md',
  );
  expect(() => queries.perSecond('gateway_requests_total', { by: ['region'] })).toThrow(
    'gateway_requests_total has no label region',
  );
  expect(() => queries.perSecond('gateway_requests_total', { where: ['state="a"'] })).toThrow(
    'gateway_requests_total has no label state',
  );
  expect(() => queries.perSecond('gateway_connections')).toThrow(
    'gateway_connections is a gauge, not a counter',
  );
});

it('the ConfigMaps for Kubernetes have every dashboard, and fit', async () => {
  const { generatorOptions, configMapGenerator } = kustomization.parse(
    readYaml('grafana/kustomization.yaml')[0],
  );
  const offered = configMapGenerator.map(({ files: [file] }) => file.replace('dashboards/', ''));
  expect(offered.toSorted()).toEqual([...files.keys()].toSorted());
  expect(generatorOptions.labels).toEqual({ grafana_dashboard: '1' });
  for (const [index, { name }] of configMapGenerator.entries()) {
    const file = offered[index] ?? '';
    const { labels } = generatorOptions;
    const metadata = { name, labels };
    const data = { [file]: files.get(file) };
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
    expect(await schemaErrors(configMap)).toEqual([]);
    expect(JSON.stringify(configMap).length).toBeLessThan(MAX_CONFIG_MAP_BYTES);
  }
});

function overlap(a: z.infer<typeof place>, b: z.infer<typeof place>): boolean {
  const apart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
  return !apart;
}
