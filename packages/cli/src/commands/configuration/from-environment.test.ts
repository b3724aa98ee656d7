import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openConfigurationTest, type ConfigurationTest } from '../../../test/configuration.ts';

const STAGING = `services:
  - {name: pay, url: http://staging.example, credential: {type: bearer, token: staging-secret}}
routes: [{name: charges, service: pay, timeout_ms: 50}, {name: refunds, service: pay}]
`;
const PRODUCTION = `services:
  - {name: pay, url: http://production.example, credential: {type: bearer, token: own-secret}}
routes: [{name: charges, service: pay}, {name: old, service: pay}]
`;

describe('apply and diff of another environment', () => {
  let test: ConfigurationTest;
  let staging: string;
  let production: string;
  beforeAll(async () => void (test = await openConfigurationTest()));
  afterAll(() => test.close());
  beforeEach(async () => {
    staging = await test.newEnvironment();
    production = await test.newEnvironment();
    for (const [name, stdin] of [
      [staging, STAGING],
      [production, PRODUCTION],
    ] as const) {
      await test.run(`apply -f - --environment ${name}`, { stdin });
      await test.api.publish(name);
    }
  });

  const run = (line: string, terminal: Parameters<ConfigurationTest['run']>[1] = {}) =>
    test.run(`${line} --from ${staging} --environment ${production}`, terminal);
  const exported = async () =>
    (await test.run(`export --environment ${production}`)).stdout.replaceAll('\n', ' ');
  const charges = () => `~ route charges  environment ${staging}\n    timeout_ms  10000 → 50\n`;
  const refunds = () =>
    `+ route refunds  environment ${staging}\n    service    pay\n    locations  map\n`;

  it('compares two environments, as a whole or in part', async () => {
    const routes = await run('diff --only routes --prune --exit-code');
    expect([routes.code, routes.stderr]).toEqual([2, '']);
    const old = '- route old\n    service    pay\n    locations  map\n';
    expect(routes.stdout.split('\n\n')).toEqual([
      charges().trimEnd(),
      old.trimEnd(),
      refunds().trimEnd(),
      `${production}: 1 to create, 1 to change, 1 to delete\n`,
    ]);
    const one = await run('diff --route charges --route charges -o json');
    expect(JSON.parse(one.stdout)).toMatchObject({ changes: [{ name: 'charges' }] });
    const services = await run('diff --only services', { env: { PAY_TOKEN: 'new-secret' } });
    expect(services.stdout).toMatch(/^~ service pay .*\n[^]*url .*production.*staging/m);
  });

  it('shows what it changes and asks, and changes only what it showed', async () => {
    const questions: string[] = [];
    const answer = (yes: boolean) => ({
      stdinIsTerminal: true,
      confirm: (question: string) => Promise.resolve(questions.push(question) > 0 && yes),
    });
    const before = await exported();
    const no = await run('apply --only routes', answer(false));
    expect([no.code, no.stdout]).toEqual([1, '']);
    expect(no.stderr).toBe(
      [
        charges(),
        refunds(),
        `${production}: 1 to create, 1 to change\ngwctl: nothing was changed\n`,
      ].join('\n'),
    );
    expect(questions).toEqual([`Apply this to ${production}?`]);
    expect(await exported()).toBe(before);
    const yes = await run('apply --only routes', answer(true));
    expect([yes.code, yes.stdout]).toEqual([
      0,
      `~ route charges  timeout_ms\n+ route refunds\n${production}: 1 created, 1 changed\n`,
    ]);
    expect(await exported()).toContain('http://production.example');
    await test.api.publish(production);
    const again = await run('apply --only routes', answer(false));
    expect([again.code, questions.length]).toEqual([0, 2]);
  });

  it('takes no secret along, names the variables that it takes, and sends no stored secret to another address', async () => {
    const moved = await run('apply --yes');
    expect(moved.code).toBe(1);
    expect(moved.stderr).toContain(
      `environment ${staging}: service pay: credential the stored one`,
    );
    const given = await run('apply --yes', { env: { PAY_TOKEN: 'new-secret' } });
    expect(given).toMatchObject({ code: 0, stdout: expect.stringContaining('~ service pay') });
    expect(given.stderr).toContain('Secrets are taken from variables of this shell: PAY_TOKEN.\n');
    expect(await exported()).toContain('http://staging.example');
    expect(await exported()).toContain('old');
  });

  it.each([
    ['apply', 3, '--from applies what nobody has read, and there is no terminal to ask'],
    ['apply --yes -f x.yaml', 3, '-f and --from exclude each other'],
    ['diff --route charges --prune', 3, '--prune would delete the routes that --route leaves out'],
    ['diff --route charges --only routes', 3, '--only and --route exclude each other'],
    ['diff --route chrages', 1, 'there is no route chrages in ENV; did you mean charges?'],
  ])('%s ends with a clear error', async (line, code, message) => {
    const ran = await run(line);
    expect([ran.code, ran.stdout]).toEqual([code, '']);
    expect(ran.stderr).toContain(message.replace('ENV', staging));
  });

  it('refuses an environment that does not exist, the same one, and nothing at all', async () => {
    const none = await test.run(`diff --from nope --environment ${production}`);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('no environment nope')]);
    const same = await test.run(`diff --from ${staging} --environment ${staging}`);
    expect([same.code, same.stderr]).toEqual([3, expect.stringContaining('which --from names')]);
    const nothing = await test.run('apply');
    expect([nothing.code, nothing.stderr]).toEqual([3, expect.stringContaining('with -f')]);
  });
});
