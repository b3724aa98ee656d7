import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openConfigurationTest, type ConfigurationTest } from '../../../test/configuration.ts';

const URL_A = 'http://a.example';

let test: ConfigurationTest;
let good: number;
let bad: number;
beforeAll(async () => {
  test = await openConfigurationTest();
  await test.newEnvironment();
  await text(`services create pay --url ${URL_A}`);
  await text('routes create charges --service pay');
  good = await test.api.publish('env-1');
  await text('routes update charges --timeout-ms 50 --set status=disabled --yes');
  await text('routes create refunds --service pay');
  bad = await test.api.publish('env-1');
});
afterAll(() => test.close());

const run = (line: string, terminal: Parameters<ConfigurationTest['run']>[1] = {}) =>
  test.run(`${line} --environment env-1`, terminal);

/** The output of a command that succeeds. */
async function text(line: string): Promise<string> {
  const { code, stdout, stderr } = await run(line);
  if (code !== 0) throw new Error(`gwctl ${line}: ${stderr}`);
  return stdout;
}

/** What a rollback to the good version changes, in this tense. */
const changes = (created: string) => `~ route charges
    status      disabled → active
    timeout_ms  50 → 10000

- route refunds

env-1: ${created}
`;

it('lists versions with what each changed, and shows one', async () => {
  expect(await text('versions')).toMatch(
    new RegExp(
      `^VERSION +CURRENT +PUBLISHED +REASON +CHANGES +SERVICES AND ROUTES\n` +
        `${bad} +\\* .* changed +2 +route charges: status, timeout_ms; route refunds added\n` +
        `${good} .* changed +3 +service pay added; route charges added\n$`,
    ),
  );
  expect(await text('versions --limit 1')).toBe(await text('versions list --limit 1'));
  const one = await text(`versions get ${bad}`);
  expect(one).toMatch(/^changed_resources\[0\]\.name +charges$/m);
  expect(one).toMatch(/^current +true$/m);
  expect((await run('versions get 99')).stderr).toContain('(404 config_version_not_found)');
});

it('compares a version with the one before it, and any two', async () => {
  expect(await text(`versions diff ${bad}`)).toBe(`env-1, version ${good} to ${bad}

~ route charges
    status      active → disabled
    timeout_ms  10000 → 50

+ route refunds

env-1: 1 created, 1 changed
`);
  expect(await text(`versions diff ${bad} ${good}`)).toContain('- route refunds\n');
  expect(await text(`versions diff ${good} ${good}`)).toContain('No service and no route differs.');
  const differences = JSON.parse(await text(`versions diff ${bad} -o json`)) as { name: string }[];
  // The API orders them by their ids.
  expect(differences.map(({ name }) => name).sort()).toEqual(['charges', 'refunds']);
  expect((await run('versions diff 1')).code).toBe(3);
});

it('shows what a rollback would change, and changes nothing', async () => {
  const before = await text('routes list -o json');
  expect(await text(`rollback ${good} --dry-run`)).toBe(changes('1 to change, 1 to delete'));
  expect(JSON.parse(await text(`rollback ${good} --dry-run -o json`))).toMatchObject({
    dry_run: true,
    routes: { updated: 1, deleted: 1 },
  });
  const refused = await run(`rollback ${good}`);
  expect(refused).toEqual({
    code: 3,
    stdout: '',
    stderr: 'gwctl: it changes services and routes, and there is no terminal to ask; add --yes\n',
  });
  expect(await text('routes list -o json')).toBe(before);
});

it('rolls back to what is served without a question and without a change, and says so', async () => {
  const before = await text('routes list -o json');
  const { stdout } = await run(`rollback ${bad} -o json`, { stdinIsTerminal: true });
  expect(JSON.parse(stdout)).toMatchObject({ dry_run: false, changed: false });
  expect(await text('routes list -o json')).toBe(before);
});

it('asks before a rollback with what it changes; a change in between stops it', async () => {
  const before = await text('routes list -o json');
  const questions: string[] = [];
  const inTerminal = (answer: () => Promise<boolean>) =>
    run(`rollback ${good}`, {
      stdinIsTerminal: true,
      confirm(question) {
        questions.push(question);
        return answer();
      },
    });
  const no = await inTerminal(() => Promise.resolve(false));
  expect(no).toEqual({
    code: 1,
    stdout: '',
    stderr: `${changes('1 to change, 1 to delete')}Environment env-1 had no requests in the last hour.
gwctl: nothing was changed
`,
  });
  expect(questions).toEqual([`Roll env-1 back to version ${good}?`]);
  expect(await text('routes list -o json')).toBe(before);
  const outdated = await inTerminal(async () => {
    await text('routes update refunds --timeout-ms 60');
    await test.api.publish('env-1');
    return true;
  });
  expect(outdated.code).toBe(1);
  expect(outdated.stderr).toMatch(
    /\n {2}the list may be out of date, and nothing was changed; run it again\n$/,
  );
  const yes = await inTerminal(() => Promise.resolve(true));
  expect([yes.code, yes.stdout]).toEqual([0, changes('1 changed, 1 deleted')]);
  await test.api.publish('env-1');
  expect(await text('versions --limit 1')).toContain(` rolled back to ${good} `);
  // Nothing differs now, so there is nothing to ask.
  const again = await inTerminal(() => Promise.reject(new Error('asked')));
  expect([again.code, again.stdout]).toEqual([0, 'env-1: nothing to change\n']);
});
