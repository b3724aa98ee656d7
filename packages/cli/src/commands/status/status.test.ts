import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openGwctl, type Gwctl } from '../../../test/run-gwctl.ts';

describe('gwctl status', () => {
  let api: TestApi;
  let gwctl: Gwctl;
  beforeAll(async () => {
    api = await startTestApi();
    gwctl = openGwctl({ GATEWAY_URL: api.url, GATEWAY_TOKEN: api.adminToken });
  });
  afterAll(async () => {
    gwctl.remove();
    await api.close();
  });
  const status = (...more: string[]) =>
    gwctl.run(['status', '--environment', 'production', ...more]);

  it('says what needs a look: no data plane, then one that is behind', async () => {
    const none = await status('--exit-code');
    expect(none.code).toBe(2);
    expect(none.stdout).toContain('data planes  none\n');
    expect(none.stdout).toContain('\n! No data plane is live.\n');
    const body = { name: 'pay', environment: 'production', url: 'http://127.0.0.1:9' };
    await api.call('POST', '/v1/services', { body });
    const version = await api.publish('production');
    const beat = (ran: number) =>
      api.dataPlanes.take(
        heartbeatOf('dp-1', { region: 'eu', config_versions: { production: ran } }),
        api.clock.monotonicMs(),
      );
    beat(version - 1);
    const behind = await status();
    expect(behind.code).toBe(0);
    expect(behind.stdout).toMatch(
      new RegExp(`^data planes +dp-1 in eu, live, production ${version - 1} \\(1 behind\\)$`, 'm'),
    );
    expect(behind.stdout).toContain('\n! dp-1 is 1 version behind in production.\n');
    beat(version);
    const well = await status('--exit-code');
    expect([well.code, well.stderr]).toEqual([0, '']);
    expect(well.stdout).toMatch(/\n\nNothing needs a look\.\n$/);
    expect(well.stdout).toMatch(/^token +admin /m);
    expect(well.stdout).toMatch(/^environment +production, version \d+$/m);
    expect(well.stdout).toMatch(/^services +1 \w+$/m);
  });

  it('prints all of it as data', async () => {
    const { stdout } = await status('-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      gateway: { url: api.url },
      token: { name: 'admin' },
      environment: { name: 'production' },
      services: [{ name: 'pay' }],
      data_planes: [{ id: 'dp-1' }],
      problems: [],
    });
  });

  it('names a misspelt environment, and what a token may not read', async () => {
    const wrong = await gwctl.run(['status', '--environment', 'prodution']);
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      'gwctl: there is no environment prodution; did you mean production?\n',
    ]);
    const made = await gwctl.run(
      'tokens create caller --scopes proxy --environments production --expires-at 24h -o json'.split(
        ' ',
      ),
    );
    const { secret } = JSON.parse(made.stdout) as { secret: string };
    const limited = await gwctl.run(['status', '--environment', 'production'], {
      env: { GATEWAY_TOKEN: secret },
    });
    expect(limited.code).toBe(0);
    expect(limited.stdout).toMatch(/^data planes +the token may not read them$/m);
    expect(limited.stdout).toContain('! The token ends at ');
  });
});
