import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { openConfigurationTest, type ConfigurationTest } from '../../../test/configuration.ts';

let test: ConfigurationTest;
let environment: string;
beforeAll(async () => void (test = await openConfigurationTest()));
afterAll(() => test.close());
beforeEach(async () => {
  environment = await test.newEnvironment();
  await text('services create pay --url http://a.example');
  await text('routes create charges --service pay');
});

const run = (line: string, terminal: Parameters<ConfigurationTest['run']>[1] = {}) =>
  test.run(`${line} --environment ${environment}`, terminal);

async function text(line: string, stdin = ''): Promise<string> {
  const { code, stdout, stderr } = await run(line, { stdin });
  if (code !== 0) throw new Error(`gwctl ${line}: ${stderr}`);
  return stdout;
}

const json = async (line: string) => JSON.parse(await text(`${line} -o json`)) as Fields;
type Fields = Record<string, unknown>;

/** The id of the newest audit event, of this action if one is given. */
async function newest(action?: string): Promise<string> {
  const only = action === undefined ? '' : ` --action ${action}`;
  const [event] = (await json(`audit --limit 1${only}`)) as unknown as [Fields];
  return String(event['id']);
}

it('gives the fields of one change their values of before, after it has shown them', async () => {
  await text('routes update charges --timeout-ms 50 --set rate_limit.limit=7');
  const event = await newest();
  const asked: string[] = [];
  const inTerminal = (answer: boolean) =>
    run(`revert ${event}`, {
      stdinIsTerminal: true,
      confirm(question) {
        asked.push(question);
        return Promise.resolve(answer);
      },
    });
  const no = await inTerminal(false);
  expect([no.code, no.stdout, asked]).toEqual([
    1,
    '',
    [`Change route charges of ${environment} back?`],
  ]);
  expect(no.stderr).toMatch(
    /^The change of \S+ is reverted:\n {4}timeout_ms +50 → 10000\n {4}rate_limit.limit +7 → 60000\nRoute charges had no requests in the last hour.\ngwctl: nothing was changed\n$/,
  );
  expect((await run(`revert ${event}`)).code).toBe(3);
  expect(await json('routes get charges')).toMatchObject({ timeout_ms: 50 });
  expect((await inTerminal(true)).code).toBe(0);
  expect(await json('routes get charges')).toMatchObject({
    timeout_ms: 10_000,
    rate_limit: { limit: 60_000 },
  });
  const again = await run(`revert ${event} --yes`);
  expect([again.code, again.stderr]).toEqual([
    1,
    'gwctl: The route was changed again since; revert that change first.\n',
  ]);
});

it('colours the values in a terminal that has colours', async () => {
  await text('routes update charges --timeout-ms 50');
  const { stderr } = await run(`revert ${await newest()}`, {
    stdinIsTerminal: true,
    colour: (style, shown) => `\u001b[${style}m${shown}\u001b[m`,
  });
  expect(stderr).toContain('    timeout_ms  \u001b[redm50\u001b[m → \u001b[greenm10000\u001b[m\n');
});

it('says what it stops', async () => {
  await text('routes update charges --set status=disabled --yes');
  await text('routes update charges --set status=active');
  const asked = await run(`revert ${await newest()}`, { stdinIsTerminal: true });
  expect(asked.stderr).toContain('\nRequests to /v1/proxy/charges get 404 from now on.\n');
});

it('moves a credential only back to where it was sent before, and brings no former one back', async () => {
  await text('services update pay -f -', 'credential: {type: bearer, token: first-secret}');
  const added = await newest();
  expect((await run(`revert ${added} --yes`)).stderr).toContain('The change replaced a secret');
  test.api.clock.advance(1000);
  await text('services update pay --url http://b.example');
  await text(`revert ${await newest()} --yes`);
  const service = await json('services get pay');
  expect(service).toMatchObject({ url: 'http://a.example', credential: { type: 'bearer' } });
  test.api.clock.advance(1000);
  await text(
    'services update pay --url http://c.example -f -',
    'credential: {type: bearer, token: second-secret}',
  );
  const refused = await run(`revert ${await newest()} --yes`);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('The change replaced a secret'),
  ]);
  expect(await json('services get pay')).toMatchObject({ url: 'http://c.example' });
});

it('is refused for a creation, a deletion, a token, and what does not exist', async () => {
  expect((await run(`revert ${await newest('route.created')} --yes`)).stderr).toContain(
    'was created',
  );
  await text('routes delete charges --yes');
  expect((await run(`revert ${await newest('route.deleted')} --yes`)).stderr).toContain(
    'was deleted',
  );
  await text('tokens create shop --scopes proxy');
  expect((await run(`revert ${await newest('token.created')} --yes`)).stderr).toContain(
    'change of a token',
  );
  const none = await run('revert aud_01kb5zv4x8n3m6q9r2t7w0y1z4 --yes');
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('there is no audit event')]);
  expect((await run('revert rte_1 --yes')).code).toBe(3);
});

it('says of an id with a time that is none that there is no such event', async () => {
  const id = `aud_${'z'.repeat(26)}`;
  const { code, stderr } = await run(`revert ${id}`);
  expect([code, stderr]).toEqual([
    1,
    `gwctl: there is no audit event ${id}, or the token does not cover it\n`,
  ]);
});
