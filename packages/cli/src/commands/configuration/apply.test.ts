import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openConfigurationTest, type ConfigurationTest } from '../../../test/configuration.ts';

let test: ConfigurationTest;
beforeAll(async () => void (test = await openConfigurationTest()));
afterAll(() => test.close());

const SECRET = 'upstream-secret-1';
const PAYMENTS = `services:
  - name: payments
    url: https://payments.example
    credential: { type: bearer, token: "\${PAYMENTS_TOKEN}" }
routes:
  - name: charges
    service: payments
    timeout_ms: 5000
`;

it('applies a file, says that a second apply changes nothing, and shows no secret', async () => {
  const environment = await test.newEnvironment();
  const file = test.write('payments.yaml', PAYMENTS);
  const apply = (line = '') =>
    test.run(`apply -f ${file} --environment ${environment}${line}`, {
      env: { PAYMENTS_TOKEN: SECRET },
    });
  expect(await apply()).toEqual({
    code: 0,
    stdout: `+ service payments\n+ route charges\n${environment}: 2 created\n`,
    stderr: '',
  });
  expect((await apply()).stdout).toBe(`${environment}: nothing to change, 2 unchanged\n`);
  const json = await apply(' -o json');
  expect(JSON.parse(json.stdout)).toMatchObject({ changed: false, routes: { unchanged: 1 } });
  const diff = await test.run(`diff -f ${file} --environment ${environment} --exit-code`, {
    env: { PAYMENTS_TOKEN: 'another-secret' },
  });
  expect(diff).toEqual({
    code: 2,
    stdout: `~ service payments  ${file}:2:5
    credential  the secret differs

${environment}: 1 to change, 1 unchanged
`,
    stderr: '',
  });
});

it('keeps a stored secret whose variable is not set, unless --require-secrets', async () => {
  const environment = await test.newEnvironment();
  const file = test.write('payments.yaml', PAYMENTS);
  const line = `apply -f ${file} --environment ${environment}`;
  const missing = await test.run(line, { env: { PAYMENTS_TOKEN: '' } });
  expect(missing.code).toBe(1);
  expect(missing.stderr).toMatch(
    /\(400 invalid_request\)\n {2}\S+payments\.yaml:4:33: the variable PAYMENTS_TOKEN is not set, and there is no stored secret to keep\n {2}request id: req_\w+\n$/,
  );
  await test.run(line, { env: { PAYMENTS_TOKEN: SECRET } });
  expect(await test.run(line)).toEqual({
    code: 0,
    stdout: `${environment}: nothing to change, 2 unchanged\n`,
    stderr: `${file}:4:33: the variable PAYMENTS_TOKEN is not set; the stored secret is kept\n`,
  });
  test.write(
    'payments.yaml',
    PAYMENTS.replace(/url: \S+?(?=[,\n}])/, 'url: https://moved.example'),
  );
  const moved = await test.run(line);
  expect(moved.stderr).toMatch(
    /payments\.yaml:4:\d+: service payments: credential the stored one is not sent to a new address/,
  );
  test.write('payments.yaml', PAYMENTS);
  expect(await test.run(`${line} --require-secrets`)).toEqual({
    code: 3,
    stdout: '',
    stderr: `gwctl: ${file}:4:33: the variable PAYMENTS_TOKEN is not set\n`,
  });
});

it('reads the files of a directory in the order of their names, with several documents each', async () => {
  const environment = await test.newEnvironment();
  const folder = test.write('folder', '');
  const inside = (name: string) => path.join('directory', name);
  mkdirSync(path.join(path.dirname(folder), 'directory'));
  test.write(
    inside('b.yml'),
    '# comments only\n---\nroutes: [{name: b, service: a}]\n---\nroutes: [{name: c, service: a}]\n',
  );
  test.write(inside('a.json'), '{"services": [{"name": "a", "url": "http://a.example"}]}');
  test.write(inside('.hidden.yaml'), 'nonsense: 1');
  test.write(inside('README.md'), '# nothing to read');
  const other = test.write('other.yaml', `environment: ${environment}\nroutes: []\n`);
  symlinkSync(other, path.join(path.dirname(folder), inside('link.yaml')));
  const applied = await test.run(`apply -f ${path.join(path.dirname(folder), 'directory')}`);
  expect(applied.stderr).toBe('');
  expect(applied.stdout).toBe(`+ service a\n+ route b\n+ route c\n${environment}: 3 created\n`);
});

it('reads stdin, and shows what it creates and changes', async () => {
  const environment = await test.newEnvironment();
  const run = (command: string, stdin: string) =>
    test.run(`${command} -f - --environment ${environment}`, { stdin });
  const first = 'services: [{name: a, url: http://a.example}, {name: b, url: http://b.example}]';
  expect((await run('apply --dry-run', first)).stdout).toBe(`+ service a  stdin:1:12
    url  http://a.example

+ service b  stdin:1:46
    url  http://b.example

${environment}: 2 to create
`);
  await run('apply', first);
  // The two swap their names, which is a change of each.
  const swapped = 'services: [{name: b, url: http://a.example}, {name: a, url: http://b.example}]';
  expect((await run('apply', swapped)).stdout).toBe(
    `~ service a  url\n~ service b  url\n${environment}: 2 changed\n`,
  );
  const exported = await test.run(`export --environment ${environment} -o json`);
  expect(JSON.parse(exported.stdout)).toMatchObject({
    services: [
      { name: 'a', url: 'http://b.example' },
      { name: 'b', url: 'http://a.example' },
    ],
  });
});

it('needs only read scopes for a difference, and refuses an apply with them', async () => {
  const environment = await test.newEnvironment();
  const file = test.write('one.yaml', 'services: [{name: a, url: http://a.example}]');
  const token = await test.api.makeToken({
    name: 'pull-requests',
    environments: [environment],
    scopes: ['services:read', 'routes:read'],
  });
  const env = { GATEWAY_TOKEN: token };
  const line = `-f ${file} --environment ${environment}`;
  expect((await test.run(`diff ${line}`, { env })).code).toBe(0);
  const refused = await test.run(`apply ${line}`, { env });
  expect([refused.code, refused.stdout]).toEqual([4, '']);
  expect(refused.stderr).toContain('the call needs the scopes services:write and routes:write');
});
