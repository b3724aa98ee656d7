import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { browse, browserCommand } from './browse.ts';

it.each([
  [{ BROWSER: 'firefox -P work' }, 'linux', ['firefox', '-P', 'work']],
  [{}, 'linux', undefined],
  [{ DISPLAY: ':0' }, 'linux', ['xdg-open']],
  [{ WAYLAND_DISPLAY: 'wayland-0' }, 'linux', ['xdg-open']],
  [{}, 'darwin', ['open']],
])('with %j on %s it runs %j', (env, platform, expected) => {
  expect(browserCommand(env, platform)).toEqual(expected);
});

it('passes the URL as one argument that no shell reads', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gwctl-browser-'));
  const program = path.join(folder, 'browser.mjs');
  writeFileSync(program, `import http from 'node:http';\nhttp.get(process.argv[2]);\n`);
  const server = createServer();
  const asked = new Promise<string | undefined>((resolve) => {
    server.on('request', (request, response) => {
      response.end();
      resolve(request.url);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const target = '/console/?a=$(id);b=%22';
  const env = { BROWSER: `${process.execPath} ${program}` };
  expect(await browse(`http://127.0.0.1:${port}${target}`, env)).toBe(true);
  expect(await asked).toBe(target);
  server.close();
  rmSync(folder, { recursive: true });
});

it('says that there is no browser if its program does not exist', async () => {
  expect(await browse('http://127.0.0.1/', { BROWSER: '/no/such/program' })).toBe(false);
});
