import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import vm from 'node:vm';
import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import { packNpmPackage } from '@gateway/tools/build/npm-packages';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rolldown } from 'rolldown';

const run = promisify(execFile);
/** Node 20 in CI, which cannot run the sources. */
const NODE = process.env['npm_node_execpath'] ?? process.execPath;
const TSC = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));

/** What the client may use of a page. There is no `process`, no `Buffer` and no `require`. */
const OF_BROWSERS =
  'AbortController AbortSignal FormData Headers Request Response URL URLSearchParams clearTimeout crypto fetch performance setTimeout';

/** A program of a user: it creates an environment and prints the names of all. */
const PROGRAM = `
  import { ApiError, createClient } from '@gateway/client';
  const client = createClient({ baseUrl: config.url, token: config.token });
  await client.post('/v1/environments', { body: { name: config.name } });
  const names = [];
  for await (const { name } of client.list('/v1/environments')) names.push(name);
  const error = await client.get('/v1/routes/{id}', { params: { path: { id: 'rte_none' } } })
    .catch((error) => error);
  report({ names, code: error instanceof ApiError ? error.code : undefined });
`;

/** What the types allow and refuse. */
const TYPED = `
  import { createClient } from '@gateway/client';
  const client = createClient({ baseUrl: 'https://gateway.example', token: 'gwt_' });
  const { body } = await client.get('/v1/services', { params: { query: { limit: 1 } } });
  export const name: string | undefined = body.data[0]?.name;
  // @ts-expect-error Not a field of a service.
  export const other = body.data[0]?.naem;
  // @ts-expect-error Not a path.
  await client.get('/v1/servces');
  // @ts-expect-error The body is missing.
  await client.post('/v1/environments');
  // @ts-expect-error limit is a number.
  await client.get('/v1/services', { params: { query: { limit: 'one' } } });
  for await (const route of client.list('/v1/routes')) route.name.toUpperCase();
`;

describe('the package of the client, in an empty folder', () => {
  let api: TestApi;
  let folder: string;
  beforeAll(async () => {
    api = await startTestApi();
    folder = await mkdtemp(path.join(tmpdir(), 'client-package-'));
    const tarball = path.join(folder, await packNpmPackage('@gateway/client', folder));
    await writeFile(path.join(folder, 'package.json'), '{"type":"module","private":true}');
    // Offline and with an empty cache: nothing but the package is installed.
    const options = ['--offline', '--cache', path.join(folder, 'cache'), '--no-audit', '--no-fund'];
    await run('npm', ['install', ...options, tarball], { cwd: folder });
  }, 120_000);
  afterAll(async () => {
    await rm(folder, { recursive: true });
    await api.close();
  });

  const configOf = (name: string) => ({ url: api.url, token: api.adminToken, name });

  async function write(name: string, text: string): Promise<string> {
    const file = path.join(folder, name);
    await writeFile(file, text);
    return file;
  }

  it('has no dependencies, no sources, and the licence of what is bundled', async () => {
    const installed = path.join(folder, 'node_modules/@gateway/client');
    const read = (file: string) => readFile(path.join(installed, file), 'utf8');
    expect(JSON.parse(await read('package.json'))).not.toHaveProperty('dependencies');
    await expect(read('src/client.ts')).rejects.toThrow('ENOENT');
    expect(await read('dist/THIRD-PARTY-LICENSES')).toMatch(/^openapi-fetch \d/);
  });

  it('calls the management API with the Node of npm', async () => {
    const start = `const config = ${JSON.stringify(configOf('of-node'))}; const report = (text) => console.log(JSON.stringify(text));`;
    const { stdout } = await run(NODE, [await write('program.mjs', start + PROGRAM)]);
    expect(JSON.parse(stdout)).toEqual({
      names: expect.arrayContaining(['of-node', 'production']),
      code: 'route_not_found',
    });
  });

  it('calls the management API from a bundle for browsers, which have nothing of Node', async () => {
    const input = await write('page.mjs', PROGRAM);
    const bundle = await rolldown({ input, platform: 'browser', cwd: folder });
    const { output } = await bundle.generate({ format: 'esm' });
    await bundle.close();
    expect(output[0].imports).toEqual([]);
    const code = output[0].code.replace(/^export .*$/m, '');
    const reported = await new Promise((report, reject) => {
      const web = OF_BROWSERS.split(' ').map((name): [string, unknown] => [
        name,
        Reflect.get(globalThis, name),
      ]);
      const own = { config: configOf('of-page'), report };
      const context = vm.createContext({ ...Object.fromEntries(web), ...own });
      const ended = vm.runInContext(`(async () => {${code}})()`, context) as Promise<void>;
      ended.catch(reject);
    });
    expect(reported).toEqual({
      names: expect.arrayContaining(['of-page', 'production']),
      code: 'route_not_found',
    });
  });

  it('has types that name each path, parameter and field', async () => {
    await write('typed.ts', TYPED);
    const types = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022'];
    const libraries = ['--lib', 'es2024,dom'];
    const files = ['--ignoreConfig', 'typed.ts'];
    const args = [TSC, ...types, ...libraries, ...files];
    const checked = run(process.execPath, args, { cwd: folder });
    // What it finds is in the output of the failed command.
    const found = await checked.catch((error: unknown) => error);
    expect(found).toMatchObject({ stdout: '' });
  }, 60_000);
});
