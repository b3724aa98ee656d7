import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openGwctl, type Gwctl } from '../../../test/run-gwctl.ts';

describe('gwctl api', () => {
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
  const call = (...args: string[]) => gwctl.run(['api', ...args]);

  it('makes calls with fields, a body from stdin, and the token of the context', async () => {
    const made = await call('POST', '/v1/environments', '-f', 'name=calls');
    expect([made.code, made.stderr]).toEqual([0, '']);
    expect(JSON.parse(made.stdout)).toMatchObject({ data: { name: 'calls' } });
    const body = '{name: pay, environment: calls, url: "http://127.0.0.1:9"}';
    const created = await gwctl.run(['api', 'services', '--input', '-'], { stdin: body });
    const { data } = JSON.parse(created.stdout) as { data: { id: string } };
    const renamed = await call('patch', `services/${data.id}`, '-f', 'name=payments');
    expect(JSON.parse(renamed.stdout)).toMatchObject({ data: { id: data.id, name: 'payments' } });
    const deleted = await call('DELETE', `/v1/services/${data.id}`);
    expect(deleted).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('sends fields without a method as a query, so that it changes nothing', async () => {
    const { stdout } = await call(
      'environments?limit=1',
      '-f',
      'limit=2',
      '-o',
      'jsonpath=$..name',
    );
    expect(stdout.trim().split('\n').length).toBeGreaterThanOrEqual(1);
    const name = await call('environments', '-f', 'limit=1', '-o', 'name');
    expect([name.code, name.stdout.trim().split('\n')]).toEqual([0, [expect.any(String)]]);
  });

  it('prints the items of all pages', async () => {
    const all = await call(
      'environments',
      '--paginate',
      '-f',
      'limit=1',
      '-o',
      'jsonpath=$[*].name',
    );
    expect(all.stdout.trim().split('\n')).toEqual(
      expect.arrayContaining(['development', 'production']),
    );
  });

  it('prints the status and the headers if asked', async () => {
    const { stdout } = await call('/v1/whoami', '-i');
    expect(stdout).toMatch(/^HTTP 200\n/);
    expect(stdout).toMatch(/\nx-request-id: req_\w+\n/);
  });

  it.each([
    [['/v1/routes/rte_1'], 1, '(404 '],
    [['https://elsewhere.test/v1/routes'], 3, 'the URL is that of the context'],
    [['../admin'], 3, 'is no path of the API'],
    [['FETCH', '/v1/routes'], 3, 'FETCH is no method; the API has GET, POST'],
    [['routes', '-H', 'Authorization: Bearer x'], 3, '-H cannot have a secret'],
    [['GET', 'routes', '--input', '-'], 3, 'a GET has no body'],
    [['POST', 'services', '-f', 'credential={type: bearer}'], 3, 'which is a secret'],
    [['POST', 'routes', '--paginate'], 3, '--paginate is for GET'],
  ])('gwctl api %j ends with a clear error', async (args, code, message) => {
    const ran = await call(...args);
    expect([ran.code, ran.stdout]).toEqual([code, '']);
    expect(ran.stderr).toContain(message);
  });

  it('sends the token to the host of the context only, whatever the path looks like', async () => {
    for (const path of ['@elsewhere.test/v1/x', '//elsewhere.test/v1/x', ':80@elsewhere.test/x']) {
      const ran = await call(path);
      expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining('(404 ')]);
    }
  });
});
