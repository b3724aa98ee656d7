import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import path from 'node:path';
import { runCommand } from '@gateway/tools/process/run-command';
import { listen } from '@gateway/shared/test/upstream';
import { installedPackages, systemPath } from '../harness/npm-packages.ts';
import { outcome, type Pair, type StartedServer, type Target } from '../harness/pair.ts';
import { startInFolder } from '../harness/in-folder.ts';
import { withFolder } from '../harness/program.ts';

const PACKAGES = { verdaccio: '6.10.4' };
/** One of its plugins asks for it by a tag that not every registry has. */
const OVERRIDES = { 'node-fetch': '2.7.0' };
const TIMEOUT_MS = 60_000;

/**
 * npm and a registry. The registry writes the addresses of its packages as it is called, and npm keeps them in the lockfile,
 * so the registry must see the host that npm calls.
 */
export const npm: Pair = {
  client: 'npm',
  version: 'of the system',
  reach: 'host',
  start,
  direct: {
    publish: 'done',
    install: 'done',
    '`resolved` in the lockfile': 'the address that npm calls',
    'install with the lockfile': 'done',
  },
  otherwise: {},
};

type RunServer = (configuration: object) => Promise<Server>;

async function start(): Promise<StartedServer> {
  const load = await installedPackages(PACKAGES, OVERRIDES);
  const { runServer } = load('verdaccio') as { runServer: RunServer };
  return startInFolder(async (storage) => {
    const server = await runServer({
      storage,
      self_path: storage,
      uplinks: {},
      web: { enable: false },
      packages: { '**': { access: '$all', publish: '$all' } },
      log: { type: 'stdout', level: 'fatal' },
    });
    const { url, close } = await listen(server);
    return { urls: [url], route: { rewrite: { host: 'preserve' } }, use, close };
  });
}

async function use({ url, token }: Target) {
  return withFolder(async (home) => {
    const folder = async (name: string, manifest: object) => {
      const created = path.join(home, name);
      await mkdir(created);
      await writeFile(path.join(created, 'package.json'), JSON.stringify(manifest));
      return created;
    };
    const settings = [
      `registry=${url}/`,
      `//${new URL(url).host}/:_authToken=${token}`,
      `cache=${path.join(home, 'cache')}`,
      'omit-lockfile-registry-resolved=false',
      'audit=false',
      'fund=false',
      'update-notifier=false',
    ];
    await writeFile(path.join(home, '.npmrc'), settings.join('\n'));
    const run = async (cwd: string, ...args: string[]) => {
      const userConfig = ['--userconfig', path.join(home, '.npmrc')];
      const env = { PATH: systemPath(), HOME: home };
      const options = { cwd, env, timeoutMs: TIMEOUT_MS };
      const { code, output } = await runCommand('npm', [...args, ...userConfig], options);
      return code === 0 ? 'done' : output;
    };
    const source = await folder('source', { name: 'demo', version: '1.0.0' });
    const app = await folder('app', { private: true });
    const lockfile = path.join(app, 'package-lock.json');
    return {
      publish: await run(source, 'publish'),
      install: await run(app, 'install', 'demo'),
      '`resolved` in the lockfile': await outcome(async () => {
        const resolved = /"resolved": "([^"]+)"/.exec(await readFile(lockfile, 'utf8'))?.[1] ?? '';
        return resolved.startsWith(`${url}/`) ? 'the address that npm calls' : resolved;
      }),
      'install with the lockfile': await run(app, 'ci', '--prefer-online'),
    };
  });
}
