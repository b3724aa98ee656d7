import { truncateSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openConfigurationTest, type ConfigurationTest } from '../../../test/configuration.ts';

let test: ConfigurationTest;
let environment: string;
beforeAll(async () => {
  test = await openConfigurationTest();
  environment = await test.newEnvironment();
});
afterAll(() => test.close());

const apply = (files: string, terminal = {}) =>
  test.run(`apply -f ${files} --environment ${environment}`, terminal);
const nothingIsThere = async () => {
  const { stdout } = await test.run(`export --environment ${environment} -o json`);
  expect(JSON.parse(stdout)).toEqual({ environment, services: [], routes: [] });
};

const bomb = [
  'a: &a [x, x, x, x, x, x, x, x, x, x]',
  ...'bcdefgh'.split('').map((name, at) => {
    const before = String.fromCharCode(97 + at);
    return `${name}: &${name} [${Array(10).fill(`*${before}`).join(', ')}]`;
  }),
].join('\n');
const shared = `services: [{name: &big ${'x'.repeat(10_000)}}]\nroutes: [${Array(5000).fill('*big').join(', ')}]`;

describe('files that gwctl refuses before it sends anything', () => {
  it.each([
    ['wrong YAML', 'services:\n  - name: a\n   url: b\n', /^stdin:3:\d+: /],
    ['a tab', 'services:\n\t- name: a\n', /^stdin:2:1: Tabs are not allowed as indentation$/],
    ['a key twice', 'services: []\nservices: []\n', /^stdin:2:1: Map keys must be unique$/],
    ['no document', '# nothing\n', /^stdin: there is nothing in it$/],
    ['a list', '- name: a\n', /^stdin:1:1: it must be an object with services and routes$/],
    ['an unknown list', 'routes: []\nroute: []\n', /^stdin:2:1: unknown field route; a file has/],
    ['an option in it', 'routes: []\nprune: true\n', /^stdin:2:1: .* use the option --prune$/],
    ['no list', 'routes:\nservices: []\n', /^stdin:1:1: routes must be a list; \[] has no items$/],
    [
      'another environment',
      'environment: x\nroutes: []\n',
      /^stdin:1:1: the environment is x, but --environment is env-1$/,
    ],
    [
      'two resources of one name',
      'services:\n  - {name: a, url: x}\n---\nservices:\n  - {url: y, name: a}\n',
      /^stdin:5:14: the service a is there already, at stdin:2:6$/,
    ],
    [
      'a reference that is no secret',
      'services:\n  - name: a\n    url: https://${HOST}/\n',
      /^stdin:3:5: only secrets can be references to variables; write the value$/,
    ],
    [
      'a reference within a secret',
      'services:\n  - {name: a, credential: {type: header, value: "Key ${KEY}"}}\n',
      /^stdin:2:42: a reference must be the whole value, such as \$\{PAYMENTS_TOKEN}$/,
    ],
    [
      'a reference to the token of gwctl, which an upstream would get',
      'services:\n  - {name: gateway, credential: {type: bearer, token: "${GATEWAY_TOKEN}"}}\n',
      /^stdin:2:48: GATEWAY_TOKEN is the token of gwctl; name another variable$/,
    ],
    [
      'an unknown alias',
      'services: [*a]\n',
      /^stdin:1:12: there is no anchor &a before this alias$/,
    ],
    [
      'an alias in its anchor',
      'services: [&a [*a]]\n',
      /^stdin:1:\d+: it is nested too deeply, or/,
    ],
    [
      'a merge of no object',
      'services:\n  - {name: a, <<: 5}\n',
      /^stdin:2:15: only objects can be merged$/,
    ],
    ['a bomb of aliases', `${bomb}\nroutes: *h\n`, /^stdin:\d+:\d+: too many aliases, or/],
    [
      'large shared values',
      shared,
      /^stdin:\d+:\d+: the files have more than 16 MiB with aliases$/,
    ],
    ['deep nesting', `services: [${'['.repeat(20_000)}`, /^stdin:1:\d+: it is nested too deeply$/],
  ])('%s', async (_what, stdin, message) => {
    const ran = await apply('-', { stdin });
    expect([ran.code, ran.stdout]).toEqual([3, '']);
    expect(ran.stderr.replace(/^gwctl: /, '').trimEnd()).toMatch(message);
  });

  it('two resources of one name in two files', async () => {
    const [one, two] = ['one.yaml', 'two.yaml'].map((name) =>
      test.write(name, 'routes:\n  - name: same\n    service: a\n'),
    );
    expect(await apply(`${one} -f ${two}`)).toEqual({
      code: 3,
      stdout: '',
      stderr: `gwctl: ${two}:2:5: the route same is there already, at ${one}:2:5\n`,
    });
  });

  it('a file of 50 MB, which is not read', async () => {
    const file = test.write('huge.yaml', '');
    truncateSync(file, 50_000_000);
    const ran = await apply(file);
    expect([ran.code, ran.stderr]).toEqual([
      3,
      `gwctl: ${file}: the files have more than 16 MiB together\n`,
    ]);
  });

  it('a file without an end', async () => {
    expect(await apply('/dev/zero')).toEqual({
      code: 3,
      stdout: '',
      stderr: 'gwctl: /dev/zero: the files have more than 16 MiB together\n',
    });
  });

  it('a file that is missing, a directory without files, and bytes that are no text', async () => {
    const file = test.write('bytes.yaml', '');
    writeFileSync(file, Buffer.from([0xff, 0xfe]));
    const folder = file.slice(0, -'bytes.yaml'.length);
    const line = 'cannot be read: there is no such file or directory';
    expect((await apply(`${folder}none.yaml`)).stderr).toBe(`gwctl: ${folder}none.yaml ${line}\n`);
    expect((await apply(file)).stderr).toBe(`gwctl: ${file} is not text in UTF-8\n`);
    expect((await apply('/proc/self/task')).stderr).toContain('has no files named *.yaml');
    expect((await apply('- -f -', { stdin: 'routes: []' })).stderr).toContain('given twice');
  });

  it('repeats no secret of a file', async () => {
    const stdin = 'services:\n  - credential: {token: "marker" marker}\n    url: "marker" marker\n';
    const ran = await apply('-', { stdin });
    expect(ran.code).toBe(3);
    expect(ran.stderr).not.toContain('marker');
  });
});

it('names the place of every field that the API refuses, and nothing is applied', async () => {
  const one = test.write(
    'first.yaml',
    `services:
  - name: pay
    colour: red
    health_chek: {interval_ms: 5000}
    upstreams: [{url: "http://a.example"}, {url: ftp://b.example}]
`,
  );
  const two = test.write(
    'second.yaml',
    `routes:
  - &charges
    name: charges
    service: pay
    rate_limit: {limit: 0}
  - name: refunds
    versions:
      - {name: v1, service: gone, weight: 1}
  - service: pay
`,
  );
  const ran = await apply(`${one} -f ${two}`);
  expect([ran.code, ran.stdout]).toEqual([1, '']);
  expect(ran.stderr.split('\n').slice(1, -2)).toEqual([
    `  ${one}:3:5: service pay: colour is not a known field`,
    `  ${one}:4:5: service pay: health_chek is not a known field; did you mean health_check?`,
    expect.stringMatching(/first\.yaml:5:45: service pay: upstreams\.1\.url must be /),
    expect.stringMatching(/second\.yaml:5:18: route charges: rate_limit\.limit must be /),
    expect.stringMatching(/second\.yaml:9:5: name is required$/),
  ]);
  await nothingIsThere();
});

it('names the item if a wrong field is merged into it', async () => {
  const stdin = `services: [{name: a, url: http://a.example}]
routes:
  - &first {name: one, service: a, timeout_ms: 0}
  - <<: *first
    name: two
`;
  const ran = await apply('-', { stdin });
  expect(ran.stderr.split('\n').slice(1, 3)).toEqual([
    '  stdin:3:36: route one: timeout_ms must be a whole number from 1 to 300000',
    '  stdin:4:5: route two: timeout_ms must be a whole number from 1 to 300000',
  ]);
  await nothingIsThere();
});

it('names the place of a service that is missing', async () => {
  const stdin = `services: [{name: a, url: http://a.example}]
routes:
  - name: refunds
    versions:
      - {name: v1, service: gone, weight: 1}
`;
  const ran = await apply('-', { stdin });
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain(
    `\n  stdin:5:20: route refunds: versions.0.service must be the name of a service in the document or in the environment ${environment}\n`,
  );
  await nothingIsThere();
});
