import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runInProcess } from '../../../test/run-in-process.ts';

describe('the names for completion', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gwctl-names-'));
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
    for (const environment of ['production', 'development']) {
      const body = { name: `pay-${environment}`, environment, url: 'http://127.0.0.1:9' };
      await api.call('POST', '/v1/services', { body });
    }
    const here = { url: api.url, token: api.adminToken, environment: 'production' };
    mkdirSync(path.join(folder, 'gwctl'));
    writeFileSync(
      path.join(folder, 'gwctl/contexts.json'),
      JSON.stringify({ current: 'here', contexts: { here, 'a there': here } }),
      { mode: 0o600 },
    );
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await api.close();
  });
  const names = async (...args: string[]) => {
    const { stdout, stderr } = await runInProcess(['__names', ...args], {
      env: { XDG_CONFIG_HOME: folder },
    });
    expect(stderr).toBe('');
    return stdout.split('\n').slice(0, -1);
  };

  it('are those of the environment of the context, or of the command line', async () => {
    expect(await names('service', '--', 'services', 'get')).toEqual(['pay-production']);
    const given = ['--', 'services', '--environment', 'development', 'get'];
    expect(await names('service', ...given)).toEqual(['pay-development']);
    const joined = ['--', 'services', 'get', '--environment=development'];
    expect(await names('service', ...joined)).toEqual(['pay-development']);
    expect(await names('token')).toEqual(['admin']);
    expect(await names('environment')).toEqual(['development', 'production']);
    expect(await names('context')).toEqual(['here', 'a there']);
  });

  it('are none if the gateway cannot be asked', async () => {
    expect(await names('route', '--', '--context', 'nowhere')).toEqual([]);
  });
});
