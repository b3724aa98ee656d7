import { storableRecord } from '@gateway/control-plane/requests/ingest/storable-record';
import { insertRecords } from '@gateway/control-plane/requests/store/records';
import { requestRecord } from '@gateway/shared/test/request-record';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openConfigurationTest, type ConfigurationTest } from '../../test/configuration.ts';

const UPSTREAM = 'http://127.0.0.1:9';

/** What each command says that is lost, and what it asks. */
const DELETIONS: readonly [command: string, lost: string, question: string][] = [
  [
    'routes delete hosted',
    'Route hosted had no requests in the last hour.\nRequests to /v1/proxy/hosted get 404 from now on. Requests to a.example/… and to b.example/… no longer reach hosted.\n',
    'Delete route hosted of env-1?',
  ],
  [
    'routes delete charges',
    'Route charges had 3 requests in the last hour.\nRequests to /v1/proxy/charges get 404 from now on.\n',
    'Delete route charges of env-1?',
  ],
  [
    'services delete pay',
    'Service pay had 3 requests in the last hour.\n',
    'Delete service pay of env-1?',
  ],
  [
    'services delete pay-v2',
    'Service pay-v2 had no requests in the last hour.\n',
    'Delete service pay-v2 of env-1?',
  ],
  [
    'tokens delete shop',
    'Token shop was never used.\nCallers with this token are refused from now on. It cannot be restored.\n',
    'Revoke token shop?',
  ],
  [
    'environments delete env-1',
    'Environment env-1 had 3 requests in the last hour.\n',
    'Delete environment env-1?',
  ],
];

const CHANGES: typeof DELETIONS = [
  [
    'tokens rotate shop --grace-seconds 0',
    'Token shop was never used.\nIts old secret is refused from now on.\n',
    'Rotate token shop?',
  ],
  [
    'tokens update shop --expires-at 9999-01-01T00:00:00Z',
    'Token shop was never used.\nIt is refused from 9999-01-01T00:00:00.000Z on.\n',
    'End token shop earlier?',
  ],
  [
    'routes update charges --set status=disabled',
    'Route charges had 3 requests in the last hour.\nRequests to /v1/proxy/charges get 404 from now on.\n',
    'Disable route charges of env-1?',
  ],
  [
    'routes update charges --name payments',
    'Route charges had 3 requests in the last hour.\nRequests to /v1/proxy/charges get 404 from now on.\n',
    'Rename route charges of env-1?',
  ],
  [
    'routes update hosted --set match=[{"hosts":["b.example"]}]',
    'Route hosted had no requests in the last hour.\nRequests to a.example/… no longer reach hosted.\n',
    'Remove hosts or paths of route hosted of env-1?',
  ],
  [
    'routes update charges --service pay-v2',
    'Route charges had 3 requests in the last hour.\npay-v2 gets all requests, pay none.\n',
    'Move the requests of route charges of env-1?',
  ],
];

describe('gwctl asks before it destroys something or stops requests', () => {
  let test: ConfigurationTest;
  beforeAll(async () => {
    test = await openConfigurationTest();
    await test.newEnvironment();
    const pay = (JSON.parse(await make(`services create pay --url ${UPSTREAM} -o json`)) as Id).id;
    await make(`services create pay-v2 --url ${UPSTREAM}`);
    await make('routes create charges --service pay');
    const hosts = '"hosts":["a.example","b.example"]';
    await make(`routes create hosted --service pay --set match=[{${hosts}}]`);
    await make('tokens create shop --scopes proxy');
    const at = test.api.clock.nowMs() - 60_000;
    const requests = [1, 2, 3].map(() =>
      requestRecord(at, { environment: 'env-1', route: 'charges', service_id: pay }),
    );
    await insertRecords(test.api.db, requests.map(storableRecord));
  });
  afterAll(() => test.close());

  interface Id {
    readonly id: string;
  }

  /** Runs a command that succeeds without a question. */
  async function make(line: string): Promise<string> {
    const { code, stdout, stderr } = await test.run(`${line} --environment env-1`);
    if (code !== 0) throw new Error(`gwctl ${line}: ${stderr}`);
    return stdout;
  }

  /** Runs a command in a terminal whose user gives this answer, and returns what was asked too. */
  async function inTerminal(line: string, answer: boolean) {
    const questions: string[] = [];
    const ran = await test.run(`${line} --environment env-1`, {
      stdinIsTerminal: true,
      confirm(question) {
        questions.push(question);
        return Promise.resolve(answer);
      },
    });
    return { ...ran, questions };
  }

  const everything = async () =>
    Promise.all(['routes', 'services', 'tokens'].map((kind) => make(`${kind} list -o json`)));

  it.each([...DELETIONS, ...CHANGES])('%s', async (command, lost, question) => {
    const before = await everything();
    const no = await inTerminal(command, false);
    expect(no).toEqual({
      code: 1,
      stdout: '',
      stderr: `${lost}gwctl: nothing was changed\n`,
      questions: [question],
    });
    const refused = await test.run(`${command} --environment env-1`);
    expect([refused.code, refused.stdout]).toEqual([3, '']);
    expect(refused.stderr).toMatch(/^gwctl: .* and there is no terminal to ask; add --yes\n$/);
    expect(await everything()).toEqual(before);
  });

  it('and before a version gets no requests any more, not if its share shrinks', async () => {
    const id = async (name: string) =>
      (JSON.parse(await make(`services get ${name} -o json`)) as Id).id;
    const [a, b] = [await id('pay'), await id('pay-v2')];
    const split = (one: number, other: number) =>
      `routes update charges --set versions=[{"name":"v1","service_id":"${a}","weight":${one}},` +
      `{"name":"v2","service_id":"${b}","weight":${other}}]`;
    expect((await inTerminal(split(99, 1), false)).code).toBe(0);
    expect((await inTerminal(split(1, 99), false)).code).toBe(0);
    const whole = await inTerminal(split(0, 100), false);
    expect([whole.code, whole.questions]).toEqual([
      1,
      ['Move the requests of route charges of env-1?'],
    ]);
    expect(whole.stderr).toContain('\nv2 gets all requests, v1 none.\n');
    await make(`${split(0, 100)} --yes`);
    const wrong = await inTerminal('routes update charges --set versions=[1]', true);
    expect([wrong.code, wrong.questions]).toEqual([1, []]);
    expect(wrong.stderr).toContain('(400 invalid_request)');
  });

  it('and does not depend on the right to see requests', async () => {
    const created = await make('tokens create writer --scopes routes:read,routes:write -o json');
    const { secret } = JSON.parse(created) as { secret: string };
    const asked = await test.run('routes delete charges --environment env-1', {
      env: { GATEWAY_TOKEN: secret },
      stdinIsTerminal: true,
    });
    expect(asked.stderr).toBe(
      'How many requests route charges had in the last hour is not known.\n' +
        'Requests to /v1/proxy/charges get 404 from now on.\ngwctl: nothing was changed\n',
    );
    await make('tokens delete writer --yes');
  });

  it('and names no number that leaves out routes which the token does not cover', async () => {
    const scopes = 'requests:read,services:read,services:write';
    const created = await make(`tokens create few --routes other --scopes ${scopes} -o json`);
    const { secret } = JSON.parse(created) as { secret: string };
    const asked = await test.run('services delete pay --environment env-1', {
      env: { GATEWAY_TOKEN: secret },
      stdinIsTerminal: true,
    });
    expect(asked.stderr).toBe(
      'How many requests service pay had in the last hour is not known.\ngwctl: nothing was changed\n',
    );
    await make('tokens delete few --yes');
  });

  it('does not ask if nothing is lost', async () => {
    await make('tokens rotate shop');
    await make('tokens rotate shop --grace-seconds 60');
    await make('tokens update shop --name shop-2');
    await make('tokens update shop-2 --name shop --expires-at never');
    await make('tokens update shop --expires-at 9999-01-01T00:00:00Z --yes');
    await make('tokens update shop --expires-at 9999-06-01T00:00:00Z');
    await make('routes update charges --timeout-ms 100');
    await make('routes update hosted --set match=[{"hosts":["*.example"]}]');
    const back = '[{"hosts":["a.example","b.example"]}]';
    await make(`routes update hosted --yes --set match=${back}`);
    await make('routes update charges --set status=disabled --yes');
    await make('routes update charges --service pay');
    await make('routes update charges --set status=active');
  });

  it('does what it asked about after yes', async () => {
    for (const [command] of DELETIONS) {
      const { code, stderr } = await inTerminal(command, true);
      expect([command, code, stderr.split('\n').at(-2)]).toEqual([
        command,
        0,
        expect.stringMatching(/ is (deleted|revoked)\.$/),
      ]);
    }
    expect((await test.run('environments get env-1')).code).toBe(1);
  });
});
