import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { openConfigurationTest, type ConfigurationTest } from '../../../test/configuration.ts';

let test: ConfigurationTest;
let environment: string;
/** The arguments of an apply that prunes `old`. */
let pruned: string;
beforeAll(async () => void (test = await openConfigurationTest()));
afterAll(() => test.close());

beforeEach(async () => {
  environment = await test.newEnvironment();
  const all = `services:
  - {name: a, url: http://a.example}
  - {name: old, upstreams: [{url: http://o.example, region: eu}], health_path: /up}
routes: [{name: r, service: a, timeout_ms: 50}, {name: old-route, service: old}]
`;
  const kept = test.write(
    'kept.yaml',
    'services: [{name: a, url: http://a.example}]\nroutes: [{name: r, service: a}]\n',
  );
  await test.run(`apply -f - --environment ${environment}`, { stdin: all });
  await test.api.publish(environment);
  pruned = `-f ${kept} --environment ${environment} --prune`;
});

const names = async () => {
  const { stdout } = await test.run(`export --environment ${environment} -o json`);
  const { services, routes } = JSON.parse(stdout) as Record<string, { name: string }[]>;
  return [...(services ?? []), ...(routes ?? [])].map(({ name }) => name);
};
const ALL = ['a', 'old', 'old-route', 'r'];

it('lists what it deletes, asks, and deletes only after yes', async () => {
  const questions: string[] = [];
  const answer = (yes: boolean) => ({
    stdinIsTerminal: true,
    confirm(question: string) {
      questions.push(question);
      return Promise.resolve(yes);
    },
  });
  const no = await test.run(`apply ${pruned}`, answer(false));
  expect(no).toEqual({
    code: 1,
    stdout: '',
    stderr: `--prune deletes what the files do not have:
- service old
- route old-route
gwctl: nothing was changed
`,
  });
  expect(questions).toEqual([`Delete 2 resources of ${environment} and make 1 other change?`]);
  expect(await names()).toEqual(ALL);
  const yes = await test.run(`apply ${pruned}`, answer(true));
  expect([yes.code, yes.stdout]).toEqual([
    0,
    `- service old\n- route old-route\n~ route r  timeout_ms\n${environment}: 1 changed, 2 deleted, 1 unchanged\n`,
  ]);
  expect(await names()).toEqual(['a', 'r']);
  // There is nothing to ask about now.
  await test.api.publish(environment);
  expect((await test.run(`apply ${pruned}`, answer(true))).code).toBe(0);
  expect(questions).toHaveLength(2);
});

it('deletes nothing that was not in the list: a change in between stops it', async () => {
  const ran = await test.run(`apply ${pruned}`, {
    stdinIsTerminal: true,
    async confirm() {
      await test.run(`apply -f - --environment ${environment}`, {
        stdin: 'routes: [{name: new, service: a}]',
      });
      return true;
    },
  });
  expect(ran.code).toBe(1);
  expect(ran.stderr).toMatch(
    /\(412 precondition_failed\)\n {2}request id: req_\w+\n {2}the list may be out of date, and nothing was changed; run it again\n$/,
  );
  expect(await names()).toEqual(['a', 'old', 'new', 'old-route', 'r']);
});

it('is wrong usage without a terminal to ask and without --yes', async () => {
  expect(await test.run(`apply ${pruned}`)).toEqual({
    code: 3,
    stdout: '',
    stderr: 'gwctl: --prune deletes, and there is no terminal to ask; add --yes\n',
  });
  expect(await names()).toEqual(ALL);
  expect((await test.run(`apply ${pruned} --yes`)).code).toBe(0);
  expect(await names()).toEqual(['a', 'r']);
});

it('is part of the difference, with the settings that are deleted', async () => {
  const ran = await test.run(`diff ${pruned}`);
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  expect(ran.stdout).toMatch(
    new RegExp(`^- service old
    upstreams    \\[ { url: http://o\\.example, region: eu } ]
    health_path  /up

- route old-route
    service    old
    locations  map

~ route r  \\S+kept\\.yaml:2:10
    timeout_ms  50 → 10000

${environment}: 1 to change, 2 to delete, 1 unchanged
$`),
  );
  expect(await names()).toEqual(ALL);
});

it('does not delete a service that a route uses which stays', async () => {
  const ran = await test.run(`apply -f - --environment ${environment} --prune --yes`, {
    stdin: 'services: [{name: a, url: http://a.example}]',
  });
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain('old (by the route old-route). (409 service_in_use)');
  expect(await names()).toEqual(ALL);
});
