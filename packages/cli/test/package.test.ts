import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import { packNpmPackage } from '@gateway/tools/build/npm-packages';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const run = promisify(execFile);
const source = fileURLToPath(new URL('..', import.meta.url));

/** Node 20 in CI, which cannot run the sources. */
const NODE = process.env['npm_node_execpath'] ?? process.execPath;

interface Manifest {
  readonly version: string;
  readonly dependencies?: object;
}
const manifestIn = (folder: string) =>
  JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;

describe('the package of gwctl', () => {
  let api: TestApi;
  let folder: string;
  let installed: string;
  beforeAll(async () => {
    api = await startTestApi();
    folder = mkdtempSync(path.join(tmpdir(), 'gwctl-package-'));
    installed = path.join(folder, 'lib/node_modules/gwctl');
    const tarball = path.join(folder, await packNpmPackage('gwctl', folder));
    const cache = path.join(folder, 'cache');
    // Offline and with an empty cache: nothing but the package is installed.
    const options = ['--offline', '--cache', cache, '--no-audit', '--no-fund', '--prefix', folder];
    await run('npm', ['install', '--global', ...options, tarball], { cwd: folder });
  }, 60_000);
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await api.close();
  });

  /** Runs the installed command with the Node that npm runs with, and only this on its PATH. */
  async function gwctl(...args: string[]): Promise<string> {
    const env = {
      PATH: path.dirname(NODE),
      XDG_CONFIG_HOME: folder,
      GATEWAY_URL: api.url,
      GATEWAY_TOKEN: api.adminToken,
    };
    const { stdout } = await run(path.join(folder, 'bin/gwctl'), args, { env, cwd: folder });
    return stdout;
  }

  it('has no dependencies, no sources, and the licences of what is bundled', () => {
    expect(manifestIn(installed).dependencies).toBeUndefined();
    expect(() => readFileSync(path.join(installed, 'src/gwctl.ts'))).toThrow('ENOENT');
    const licences = readFileSync(path.join(installed, 'dist/THIRD-PARTY-LICENSES'), 'utf8');
    for (const name of ['commander', 'openapi-fetch', 'yaml', 'zod']) {
      expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'));
    }
  });

  it('uses no function that Node 20 does not have', () => {
    const bundle = readFileSync(path.join(installed, 'dist/gwctl.mjs'), 'utf8');
    const newer =
      /(Promise\.(withResolvers|try)|(Object|Map)\.groupBy|Array\.fromAsync|Iterator\.from)\(/g;
    expect(bundle.match(newer)).toBeNull();
  });

  it('installs offline a gwctl that says its version and calls the management API', async () => {
    expect(await gwctl('--version')).toBe(`${manifestIn(source).version}\n`);
    expect(await gwctl('whoami')).toMatch(/^name +admin$/m);
    expect(await gwctl('environments', 'list', '-o', 'yaml')).toMatch(/^ {2}name: development$/m);
  });
});
