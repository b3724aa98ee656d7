import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openConfigurationTest, type ConfigurationTest } from '../../../test/configuration.ts';

let test: ConfigurationTest;
beforeAll(async () => void (test = await openConfigurationTest()));
afterAll(() => test.close());

/** YAML of 20 services and 1000 routes. */
function manifest(timeoutMs: number, routes = 1000): string {
  const services = Array.from(
    { length: 20 },
    (_, at) => `  - name: service-${at}\n    url: http://s${at}.example\n`,
  );
  const named = Array.from(
    { length: routes },
    (_, at) =>
      `  - name: route-${at}\n    service: service-${at % 20}\n    timeout_ms: ${timeoutMs}\n`,
  );
  return `services:\n${services.join('')}routes:\n${named.join('')}`;
}

it('applies, compares, exports and prunes 1000 routes', async () => {
  const environment = await test.newEnvironment();
  const took: string[] = [];
  async function timed(line: string, stdin = '') {
    const startedMs = performance.now();
    const ran = await test.run(`${line} --environment ${environment}`, { stdin });
    took.push(`${line}: ${Math.round(performance.now() - startedMs)} ms`);
    expect(ran.stderr).toBe('');
    return { ...ran, lines: ran.stdout.split('\n') };
  }
  const last = (lines: readonly string[]) => lines.at(-2);

  const created = await timed('apply -f -', manifest(5000));
  expect(last(created.lines)).toBe(`${environment}: 1020 created`);
  expect(created.lines).toHaveLength(1022);
  const same = await timed('apply -f -', manifest(5000));
  expect(same.stdout).toBe(`${environment}: nothing to change, 1020 unchanged\n`);
  const different = await timed('diff -f - --exit-code', manifest(4000));
  expect(different.code).toBe(2);
  expect(different.stdout.match(/ {4}timeout_ms {2}5000 → 4000\n/g)).toHaveLength(1000);
  const exported = await timed('export');
  const applied = await timed('apply -f - --prune --yes', exported.stdout);
  expect(applied.stdout).toBe(`${environment}: nothing to change, 1020 unchanged\n`);
  const pruned = await timed('apply -f - --prune --yes', manifest(4000, 10));
  expect(last(pruned.lines)).toBe(`${environment}: 10 changed, 990 deleted, 20 unchanged`);
  process.stderr.write(`20 services and 1000 routes:\n  ${took.join('\n  ')}\n`);
});
