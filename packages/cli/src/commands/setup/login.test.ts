import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openGwctl, type Gwctl } from '../../../test/run-gwctl.ts';

const NOWHERE = 'http://127.0.0.1:1';

describe('gwctl login', () => {
  let api: TestApi;
  let gwctl: Gwctl;
  beforeAll(async () => {
    api = await startTestApi();
    gwctl = openGwctl();
  });
  afterAll(async () => {
    gwctl.remove();
    await api.close();
  });
  const file = () => path.join(gwctl.configHome, 'gwctl', 'contexts.json');
  const login = (name: string, token: string, ...more: string[]) =>
    gwctl.run(['login', name, '--url', `${api.url}/`, ...more], { stdin: `${token}\n` });

  it('keeps a checked token with mode 0600, and shows it nowhere', async () => {
    const args = ['login', 'main', '--url', `${api.url}/`, '--environment', 'production'];
    const ran = await gwctl.start(args, { stdin: `${api.adminToken}\n` }).ended;
    expect(ran.code).toBe(0);
    expect(ran.stdout).toBe('');
    expect(ran.stderr).toContain(`Logged in to ${api.url} as admin`);
    expect(ran.stderr).not.toContain(api.adminToken);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file())).mode & 0o777).toBe(0o700);
    const listed = await gwctl.run(['contexts', 'list', '-o', 'json']);
    expect(JSON.parse(listed.stdout)).toEqual([
      { name: 'main', url: api.url, environment: 'production', current: true },
    ]);
  });

  it('refuses a token that the gateway refuses, and keeps nothing', async () => {
    const before = readFileSync(file(), 'utf8');
    const ran = await login('wrong', 'gwt_unknown');
    expect(ran.code).toBe(4);
    expect(ran.stderr).toMatch(/^gwctl: .+\(401 authentication_failed\)\n {2}request id: req_/);
    expect(ran.stderr).not.toContain('gwt_unknown');
    expect(readFileSync(file(), 'utf8')).toBe(before);
  });

  it.each([
    ['an empty token', ['--url', NOWHERE], '', 3, 'gwctl: no token was given'],
    ['two words', ['--url', NOWHERE], 'gwt_1 x', 3, 'gwctl: the token must be one word'],
    ['no URL', [], 'gwt_1', 3, '--url must be an http or https URL'],
    ['a URL with a password', ['--url', 'http://a:b@c'], 'gwt_1', 3, 'must have no user'],
    ['an unreachable URL', ['--url', NOWHERE], 'gwt_1', 5, `GET ${NOWHERE}/v1/whoami failed`],
    ['a token as an argument', ['--token', 'gwt_1'], '', 3, "unknown option '--token'"],
    ['a token in an option', ['--token=gwt_1'], '', 3, "unknown option '--token=gwt_***'"],
  ])('%s ends with a clear error', async (_what, args, stdin, code, message) => {
    const ran = await gwctl.run(['login', ...args], { stdin });
    expect(ran.code).toBe(code);
    expect(ran.stderr).toContain(message);
    expect(ran.stderr).not.toContain('gwt_1');
  });

  it('has several contexts: --context and contexts use select one, contexts delete forgets it', async () => {
    const token = await api.makeToken({
      name: 'auditor',
      environments: ['development'],
      scopes: ['audit:read'],
    });
    expect((await login('audit', token)).code).toBe(0);
    const name = async (...args: string[]) => {
      const { stdout } = await gwctl.run(['whoami', '-o', 'json', ...args]);
      return (JSON.parse(stdout) as { name: string }).name;
    };
    expect(await name()).toBe('auditor');
    expect(await name('--context', 'main')).toBe('admin');
    expect((await gwctl.run(['contexts', 'use', 'main'])).code).toBe(0);
    expect(await name()).toBe('admin');
    expect((await gwctl.run(['contexts', 'delete', 'audit'])).code).toBe(0);
    const unknown = await gwctl.run(['whoami', '--context', 'audit']);
    expect(unknown).toEqual({
      code: 3,
      stdout: '',
      stderr: 'gwctl: there is no context audit; contexts: main\n',
    });
  });

  it('GATEWAY_URL and GATEWAY_TOKEN override; the token of a context goes to its own URL only', async () => {
    const env = { GATEWAY_URL: api.url, GATEWAY_TOKEN: api.adminToken };
    const ran = await gwctl.run(['whoami'], { env: { ...env, XDG_CONFIG_HOME: '/nowhere' } });
    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(/^name +admin$/m);
    expect(ran.stdout).toMatch(new RegExp(`^gateway +${api.url}$`, 'm'));
    expect(ran.stdout).not.toContain(api.adminToken);
    const half = await gwctl.run(['whoami'], { env: { GATEWAY_URL: NOWHERE } });
    expect([half.code, half.stderr]).toEqual([
      3,
      'gwctl: GATEWAY_URL is set without GATEWAY_TOKEN; set both, or neither\n',
    ]);
  });

  it('refuses a file of contexts that others can read', async () => {
    chmodSync(file(), 0o644);
    const ran = await gwctl.run(['whoami']);
    expect([ran.code, ran.stderr]).toEqual([
      3,
      `gwctl: ${file()} can be read by other users; run chmod 600 ${file()}\n`,
    ]);
    chmodSync(file(), 0o600);
  });

  it('refuses a file of contexts that is malformed, without quoting it', async () => {
    const kept = readFileSync(file(), 'utf8');
    writeFileSync(file(), kept.slice(0, -10));
    const ran = await gwctl.run(['whoami']);
    writeFileSync(file(), kept);
    expect([ran.code, ran.stderr]).toEqual([
      3,
      `gwctl: ${file()} is not a file of contexts; delete it and run gwctl login\n`,
    ]);
  });

  it('keeps no context with an environment that does not exist', async () => {
    const before = readFileSync(file(), 'utf8');
    const ran = await login('main', api.adminToken, '--environment', 'prodution');
    expect([ran.code, ran.stderr]).toEqual([
      1,
      expect.stringContaining(
        'There is no environment with this name. (404 environment_not_found)',
      ),
    ]);
    expect(readFileSync(file(), 'utf8')).toBe(before);
  });

  it('says that a server is not a gateway, and takes none of its responses for a success', async () => {
    const other = createServer((_request, response) => void response.end('{"ok":true}'));
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const before = readFileSync(file(), 'utf8');
    for (const args of [
      ['whoami'],
      ['services', 'list'],
      ['services', 'create', 'a', '--url', url, '--environment', 'production'],
      ['services', 'delete', '--yes', 'svc_01k2m8v4zj5r7c9e1g3p6t8w0x'],
      ['login', 'other', '--url', url],
    ]) {
      const env = { GATEWAY_URL: url, GATEWAY_TOKEN: 'gwt_1' };
      const { code, stdout, stderr } = await gwctl.run(args, { env, stdin: 'gwt_1' });
      const text = `gwctl: The response of ${url} has the status 200, and is not one of the gateway.`;
      expect([args, code, stdout, stderr]).toEqual([args, 1, '', `${text} (200 unknown_error)\n`]);
    }
    other.close();
    expect(readFileSync(file(), 'utf8')).toBe(before);
  });

  it('a wrong command, option or output is wrong usage', async () => {
    for (const args of [['nothing'], ['whoami', '--nothing'], ['whoami', '-o', 'xml']]) {
      expect((await gwctl.run(args)).code).toBe(3);
    }
    const { code, stdout, stderr } = await gwctl.start(['nothing']).ended;
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain('gwctl has no command nothing');
  });
});
