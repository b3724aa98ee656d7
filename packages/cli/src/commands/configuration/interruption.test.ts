import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openConfigurationTest, type ConfigurationTest } from '../../../test/configuration.ts';
import { openGwctl } from '../../../test/run-gwctl.ts';

let test: ConfigurationTest;
beforeAll(async () => void (test = await openConfigurationTest()));
afterAll(() => test.close());

const services = 'services: [{name: a, url: http://a.example}]';
const SENT =
  'it is not known whether the changes are applied; they are applied as a whole or not at all, and gwctl diff shows which';

/** A server that does as told with each request, and whose URL is a gateway for gwctl. */
async function serving(
  answer: (...args: Parameters<Parameters<typeof createServer>[1] & object>) => void,
): Promise<{ server: Server; env: { GATEWAY_URL: string } }> {
  const server = createServer(answer);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, env: { GATEWAY_URL: `http://127.0.0.1:${port}` } };
}

it('^C while the gateway applies says that it is not known, with exit code 130', async () => {
  const gwctl = openGwctl({ GATEWAY_TOKEN: 'gwt_1' });
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<undefined>();
  const { server, env } = await serving(() => arrive(undefined));
  const running = gwctl.start(['apply', '-f', '-', '--environment', 'production'], {
    stdin: services,
    env,
  });
  await arrived;
  running.pressCtrlC();
  const ran = await running.ended;
  server.closeAllConnections();
  server.close();
  gwctl.remove();
  expect(ran).toEqual({ code: 130, stdout: '', stderr: `\ngwctl: interrupted: ${SENT}\n` });
});

it('^C says that nothing was changed, or that the changes are applied, if it is known', async () => {
  const environment = await test.newEnvironment();
  const line = `apply -f - --environment ${environment}`;
  const early = await test.run(`${line} --prune`, {
    stdin: services,
    stdinIsTerminal: true,
    interrupted: () => AbortSignal.abort(),
  });
  expect([early.code, early.stderr]).toEqual([130, '\ngwctl: interrupted: nothing was changed\n']);
  const pressed = new AbortController();
  const late = await test.run(`${line} --wait`, {
    stdin: services,
    interrupted: () => pressed.signal,
    out: () => pressed.abort(),
  });
  expect([late.code, late.stderr]).toEqual([
    130,
    '\ngwctl: interrupted: the changes are applied; not every data plane may serve them yet\n',
  ]);
  const exported = await test.run(`export --environment ${environment}`);
  expect(exported.stdout).toContain('name: a');
});

it('a lost response says that it is not known; an address that cannot be reached, that nothing was changed', async () => {
  const { server, env } = await serving((request) => request.socket.destroy());
  const line = 'apply -f - --environment production';
  const lost = await test.run(line, { stdin: services, env });
  await new Promise((resolve) => server.close(resolve));
  expect([lost.code, lost.stdout]).toEqual([5, '']);
  expect(lost.stderr).toMatch(/^gwctl: POST http:.* failed: /);
  expect(lost.stderr.endsWith(`\n  ${SENT}\n`)).toBe(true);
  const away = await test.run(line, { stdin: services, env });
  expect([away.code, away.stdout]).toEqual([5, '']);
  expect(away.stderr).toMatch(/ failed: .*ECONNREFUSED.*\n {2}nothing was changed\n$/);
});

it('a revoked token is not allowed', async () => {
  const created = await test.run('tokens create ci --scopes * --environments production -o json');
  const { secret } = JSON.parse(created.stdout) as { secret: string };
  await test.run('tokens delete ci --yes');
  for (const command of ['apply -f -', 'diff -f -', 'export']) {
    const ran = await test.run(`${command} --environment production`, {
      stdin: services,
      env: { GATEWAY_TOKEN: secret },
    });
    expect([ran.code, ran.stdout]).toEqual([4, '']);
    expect(ran.stderr).toContain('(401 authentication_failed)');
    expect(ran.stderr).not.toContain(secret);
  }
});

it('a server of another version, or one that is no gateway, is named', async () => {
  const body = { error: { code: 'not_found', message: 'No such path.', request_id: 'req_1' } };
  let answer = { status: 404, text: JSON.stringify(body) };
  const { server, env } = await serving((_request, response) => {
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text);
  });
  const line = 'apply -f - --environment production';
  const older = await test.run(line, { stdin: services, env });
  expect(older).toEqual({
    code: 1,
    stdout: '',
    stderr: `gwctl: No such path. (404 not_found)
  this gateway does not have the call; its version may be older than that of gwctl
  request id: req_1
`,
  });
  answer = { status: 200, text: '{"data": {"result": "done"}, "request_id": "req_1"}' };
  const other = await test.run(line, { stdin: services, env });
  expect([other.code, other.stderr]).toEqual([
    1,
    expect.stringMatching(/^gwctl: the response is not one of this version of the API \(/),
  ]);
  server.closeAllConnections();
  server.close();
});
