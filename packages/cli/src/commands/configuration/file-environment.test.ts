import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openConfigurationTest, type ConfigurationTest } from '../../../test/configuration.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'gwctl-environment-'));
let test: ConfigurationTest;
let file: string;
beforeAll(async () => {
  test = await openConfigurationTest();
  file = test.write(
    'staging.yaml',
    'environment: env-1\nservices: [{name: a, url: "http://a.test"}]\n',
  );
  await test.newEnvironment();
  await test.newEnvironment();
  const context = { url: test.api.url, token: test.api.adminToken, environment: 'env-2' };
  mkdirSync(path.join(folder, 'gwctl'));
  const contexts = { current: 'shop', contexts: { shop: context } };
  const name = path.join(folder, 'gwctl/contexts.json');
  writeFileSync(name, JSON.stringify(contexts), { mode: 0o600 });
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await test.close();
});

const run = (line: string) =>
  test.run(line, { env: { GATEWAY_URL: '', GATEWAY_TOKEN: '', XDG_CONFIG_HOME: folder } });

it('takes the environment of a file before the default of the context, and says so', async () => {
  const { code, stdout, stderr } = await run(`apply -f ${file}`);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^env-1: 1 created/m);
  expect(stderr).toBe('The files name the environment env-1; that of the context shop is env-2.\n');
  const other = await run('services list --environment env-2 -o json');
  expect(JSON.parse(other.stdout)).toEqual([]);
});

it('refuses a file of another environment than --environment, and changes nothing', async () => {
  const { code, stderr } = await run(`apply -f ${file} --environment env-2`);
  expect([code, stderr]).toEqual([
    3,
    `gwctl: ${file}:1:1: the environment is env-1, but --environment is env-2\n`,
  ]);
  const same = await run(`apply -f ${file} --environment env-1`);
  expect([same.code, same.stderr]).toEqual([0, '']);
});
