import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPrometheus } from '@gateway/testing/prometheus';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const folder = fileURLToPath(new URL('.', import.meta.url));
let promtool: string;

beforeAll(async () => {
  ({ promtool } = await findPrometheus({ log: () => undefined }));
}, 180_000);

/** Throws with what promtool found. By default a quarter of the time of this Go program is collecting garbage. */
const run = (...args: string[]) => {
  const env = { ...process.env, GOGC: '400' };
  return execFileSync(promtool, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe', env });
};

it('promtool accepts the rules', () => {
  expect(run('check', 'rules', 'rules.yml')).toMatch(/SUCCESS: \d+ rules found/);
});

it.each(['objectives', 'page', 'ticket'])(
  'the alerts of rules-%s.test.yml fire for the series that they should fire for',
  (subject) => {
    expect(run('test', 'rules', `rules-${subject}.test.yml`)).toContain('SUCCESS');
  },
);

describe('the objectives of docs/run/alerts.md', () => {
  let own: string;
  beforeAll(async () => void (own = await mkdtemp(path.join(tmpdir(), 'gateway-objectives-'))));
  afterAll(() => rm(own, { recursive: true }));

  it('are rules that give a route and an environment objectives of their own', async () => {
    const page = await readFile(new URL('../../docs/run/alerts.md', import.meta.url), 'utf8');
    const [, example = ''] = /```yaml\n(groups:.*?)```/s.exec(page) ?? [];
    const files = { rules: path.join(own, 'objectives.yml'), test: path.join(own, 'test.yml') };
    await writeFile(files.rules, example);
    expect(run('check', 'rules', files.rules)).toContain('SUCCESS: 3 rules found');
    await writeFile(files.test, JSON.stringify(testOfExample(files.rules)));
    expect(run('test', 'rules', files.test)).toContain('SUCCESS');
  });
});

/** A test file for promtool, as JSON, which is YAML. The rules need a minute more than their requests. */
function testOfExample(rules: string) {
  const series = ['production,search', 'production,other', 'development,search'].map((one) => {
    const [environment, route] = one.split(',');
    return `{environment="${environment}",route="${route}"}`;
  });
  const metrics = ['gateway_requests_total', 'gateway_time_to_first_byte_seconds_count'];
  const objective = (metric: string, labels: string, value: number) => ({
    labels: `${metric}{${labels}}`,
    value,
  });
  return {
    rule_files: [path.join(folder, 'rules.yml'), rules],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: metrics.flatMap((metric) =>
          series.map((labels) => ({ series: metric + labels, values: '0+60x20' })),
        ),
        promql_expr_test: [
          {
            expr: 'gateway:route_error_objective',
            eval_time: '10m',
            exp_samples: [
              ['production', 'search', 0.01] as const,
              ['production', 'other', 0.001] as const,
              ['development', 'search', 0.05] as const,
            ].map(([environment, route, value]) =>
              objective(
                'gateway:route_error_objective',
                `environment="${environment}",route="${route}"`,
                value,
              ),
            ),
          },
          {
            expr: 'gateway:route_latency_objective',
            eval_time: '10m',
            exp_samples: [
              ['production', 'search', '0.25', 0.05] as const,
              ['production', 'other', '2.5', 0.01] as const,
              ['development', 'search', '2.5', 0.01] as const,
            ].map(([environment, route, le, value]) =>
              objective(
                'gateway:route_latency_objective',
                `environment="${environment}",route="${route}",le="${le}"`,
                value,
              ),
            ),
          },
        ],
      },
    ],
  };
}
