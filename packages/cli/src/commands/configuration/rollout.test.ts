import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openConfigurationTest, type ConfigurationTest } from '../../../test/configuration.ts';

let test: ConfigurationTest;
beforeAll(async () => void (test = await openConfigurationTest()));
afterAll(() => test.close());

function serve(id: string, environment: string, version: number, error?: string, agoMs = 0): void {
  const beat = heartbeatOf(id, {
    config_versions: { [environment]: version },
    config_errors: error === undefined ? {} : { [environment]: error },
  });
  test.api.dataPlanes.take(beat, test.api.clock.monotonicMs() - agoMs);
}

const services = 'services: [{name: a, url: http://a.example}]';

it('says after the timeout that no data plane is live', async () => {
  const environment = await test.newEnvironment();
  const line = `apply -f - --environment ${environment} --wait --timeout 0s`;
  const unpublished = await test.run(line, { stdin: services });
  expect([unpublished.code, unpublished.stdout]).toEqual([
    1,
    `+ service a\n${environment}: 1 created\n`,
  ]);
  const text = 'gwctl: the changes are applied, but after 0 s not every data plane serves them\n  ';
  expect(unpublished.stderr).toBe(`${text}the changes are not published yet\n`);
  await test.api.publish(environment);
  const nobody = await test.run(line, { stdin: services });
  expect(nobody.stderr).toBe(`${text}no data plane is live\n`);
});

it('shows on a terminal what each data plane serves, and ends when all serve the changes', async () => {
  const environment = await test.newEnvironment();
  for (const id of ['dp-1', 'dp-2']) serve(id, environment, 0);
  const steps = [
    async () => serve('dp-1', environment, await test.api.publish(environment)),
    () => serve('dp-2', environment, 0, 'the snapshot does not verify'),
    () => serve('dp-2', environment, 1),
  ];
  const expected = [
    'dp-1  eu  version 0 of 0',
    'dp-2  eu  version 0 of 1',
    'dp-2  eu  version 0 of 1  the snapshot does not verify',
  ];
  let isApplied = false;
  let text = '';
  const ran = await test.run(`apply -f - --environment ${environment} --wait`, {
    stdin: services,
    stderrColumns: 80,
    out: () => void (isApplied = true),
    error(written) {
      text += written;
      // The rollout advances when the command has shown that it has not.
      if (isApplied && written.includes(expected[0] ?? '')) {
        expected.shift();
        void Promise.resolve(steps.shift()?.());
      }
    },
    async pause(_delayMs, signal) {
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
    },
  });
  expect(ran.code).toBe(0);
  expect(steps).toEqual([]);
  expect(text).toContain(`Waiting until every data plane serves ${environment}\n`);
  expect(text.endsWith(`Every data plane serves ${environment} version 1: dp-1, dp-2.\n`)).toBe(
    true,
  );
});

it('names the data planes that are stale: they are not waited for', async () => {
  const environment = await test.newEnvironment();
  await test.run(`apply -f - --environment ${environment}`, { stdin: services });
  const version = await test.api.publish(environment);
  serve('dp-1', environment, version);
  serve('dp-2', environment, version - 1, undefined, 60_000);
  const ran = await test.run(`apply -f - --environment ${environment} --wait`, { stdin: services });
  expect([ran.code, ran.stderr.split('\n')]).toEqual([
    0,
    [
      `Every live data plane serves ${environment} version 1: dp-1.`,
      expect.stringMatching(
        /^Not waited for: dp-2\. It is stale: it sends no heartbeats since \d{4}-.+Z\.$/,
      ),
      '',
    ],
  ]);
});

it('says after the timeout which data plane is behind and why', async () => {
  const environment = await test.newEnvironment();
  await test.run(`apply -f - --environment ${environment}`, { stdin: services });
  const version = await test.api.publish(environment);
  serve('dp-1', environment, version);
  serve('dp-2', environment, version - 1, 'the snapshot does not verify');
  const behind = await test.run(`apply -f - --environment ${environment} --wait --timeout 0s`, {
    stdin: services,
  });
  expect(behind).toEqual({
    code: 1,
    stdout: `${environment}: nothing to change, 1 unchanged\n`,
    stderr: `gwctl: the changes are applied, but after 0 s not every data plane serves them
  dp-1  eu  version 1 of 1
  dp-2  eu  version 0 of 1  the snapshot does not verify
`,
  });
});

it('needs files, a duration, and --dry-run with --exit-code', async () => {
  const code = await test.run('apply -f - --environment production --exit-code');
  expect([code.code, code.stderr]).toEqual([3, 'gwctl: --exit-code needs --dry-run\n']);
  const none = await test.run('apply --environment production');
  expect([none.code, none.stderr]).toEqual([
    3,
    expect.stringContaining('name files with -f, or an environment with --from'),
  ]);
  const ran = await test.run('apply -f - --wait --timeout 90', { stdin: services });
  expect([ran.code, ran.stderr]).toEqual([
    3,
    expect.stringContaining('It must be a duration such as 90s or 5m.'),
  ]);
});
