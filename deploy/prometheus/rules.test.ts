import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { readYaml } from '../read-yaml.ts';
import { alertRules, recordingRules } from './alert-rules.ts';
import { documentedMetrics } from './documented-metrics.ts';

const testFile = z.object({
  tests: z.array(z.object({ alert_rule_test: z.array(z.object({ alertname: z.string() })) })),
});

const rules = alertRules();
const recordings = recordingRules();
/** What operators record for their routes; docs/run/alerts.md says how. */
const OBJECTIVES = ['gateway:error_objective', 'gateway:latency_objective'];
const page = (name: string) =>
  readFileSync(new URL(`../../docs/run/${name}.md`, import.meta.url), 'utf8');

/** `| name | expression for 1 min | meaning | [runbook](runbooks.md#anchor) |`, below a heading that says how urgent it is. */
const ROW =
  /^\| ([A-Za-z][^|]*?) +\| `(.+?)`(?: for (\d+) min)? +\|.*\]\((runbooks\.md#[\w-]+)\) *\|$/;

function documented(text: string, severity: string) {
  return text.split('\n').flatMap((line) => {
    const [, name, expr, minutes, runbook] = ROW.exec(line) ?? [];
    if (name === undefined || expr === undefined) return [];
    const words = name.split(' ').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
    return {
      alert: `Gateway${words.join('')}`,
      expr: expr.replaceAll('\\|', '|'),
      for: minutes === undefined ? undefined : `${minutes}m`,
      severity,
      runbook: `docs/run/${runbook}`,
    };
  });
}

it('has one rule for each alert of docs/run/alerts.md', () => {
  const [urgent = '', later = ''] = page('alerts').split('## Look at during working hours');
  const expected = [...documented(urgent, 'page'), ...documented(later, 'ticket')];
  const present = rules.map(({ alert, expr, for: duration, labels, annotations }) => ({
    alert,
    expr,
    for: duration,
    severity: labels.severity,
    runbook: annotations.runbook,
  }));
  expect(present).toEqual(expected);
  const [tables = ''] = page('alerts').split('## Objectives');
  const rows = tables.match(/^\| [A-Za-z][^|]*\| (?!expression)/gm) ?? [];
  expect(present).toHaveLength(rows.length);
});

it('names only metrics of docs/run/metrics.md, which a test compares with both planes', () => {
  const metrics = documentedMetrics();
  const named = [...rules, ...recordings].flatMap(({ expr }) => expr.match(/gateway_\w+/g) ?? []);
  expect(named.filter((name) => !metrics.has(name.replace(/_(bucket|count)$/, '')))).toEqual([]);
});

it('names only series that its recording rules record, or that operators are told to record', () => {
  const recorded = new Set([...recordings.map(({ record }) => record), ...OBJECTIVES]);
  const named = [...rules, ...recordings].flatMap(
    ({ expr }) => expr.match(/gateway:[\w:]+/g) ?? [],
  );
  expect(named.filter((name) => !recorded.has(name))).toEqual([]);
  expect(OBJECTIVES.filter((name) => !page('alerts').includes(name))).toEqual([]);
});

it('begins the addresses of an alert with those that a control plane reports', () => {
  const links = rules.flatMap(({ annotations: { runbook_url, dashboard_url, console_url } }) => [
    [runbook_url, 'grafana_url'],
    [dashboard_url, 'grafana_url'],
    ...(console_url === undefined ? [] : [[console_url, 'console_url']]),
  ]);
  const wrong = links.filter(([url = '', label]) => {
    const address = `{{ with query "gateway:links" }}{{ . | first | label "${label}" }}{{ end }}/`;
    return !url.startsWith(address);
  });
  expect(wrong).toEqual([]);
  expect(recordings.map(({ record }) => record)).toContain('gateway:links');
});

it('has a test of promtool for each rule', () => {
  const tested = ['objectives', 'page', 'ticket'].flatMap((subject) =>
    testFile
      .parse(readYaml(`prometheus/rules-${subject}.test.yml`)[0])
      .tests.flatMap((one) => one.alert_rule_test.map(({ alertname }) => alertname)),
  );
  expect([...new Set(tested)].toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
});
