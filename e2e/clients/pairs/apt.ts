import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Pair, type StartedServer, type Target } from '../harness/pair.ts';
import { findProgram, runProgram, withFolder } from '../harness/program.ts';
import { startServer } from '../harness/server.ts';

const PACKAGE = Buffer.alloc(200_000, 'a');
const FILE = 'demo_1.0+b~1_all.deb';

/** apt with a repository that has a package in the flat form and in a suite. */
export const apt: Pair = {
  client: 'apt',
  version: 'of the system',
  start,
  direct: {
    'update, flat repository `./`': 'done',
    'download, flat repository `./`': 'done',
    'update, suite': 'done',
    'download, suite': 'done',
  },
  otherwise: {},
};

function repository(): ReadonlyMap<string, Buffer | string> {
  const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest('hex');
  const listOf = (file: string) =>
    [
      'Package: demo',
      'Version: 1:1.0+b~1',
      'Architecture: all',
      'Maintainer: Test <test@example.com>',
      'Description: nothing',
      `Filename: ${file}`,
      `Size: ${PACKAGE.length}`,
      `SHA256: ${sha256(PACKAGE)}`,
      '',
    ].join('\n');
  const releaseOf = (name: string, list: string) =>
    [
      'Suite: stable',
      'Components: main',
      'Architectures: all',
      `Date: ${new Date().toUTCString()}`,
      'SHA256:',
      ` ${sha256(list)} ${list.length} ${name}`,
      '',
    ].join('\n');
  const flat = listOf(`./${FILE}`);
  const suite = listOf(`pool/${FILE}`);
  const inSuite = 'main/binary-all/Packages';
  return new Map<string, Buffer | string>([
    ['/Packages', flat],
    ['/Release', releaseOf('Packages', flat)],
    [`/${FILE}`, PACKAGE],
    [`/dists/stable/${inSuite}`, suite],
    ['/dists/stable/Release', releaseOf(inSuite, suite)],
    [`/pool/${FILE}`, PACKAGE],
  ]);
}

async function start(): Promise<StartedServer> {
  const files = repository();
  const server = await startServer((received, response) => {
    const file = files.get(decodeURIComponent(received.path).replace('/./', '/'));
    response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  return { urls: [server.url], close: () => server.close(), use };
}

async function use(target: Target) {
  const flat = await updateAndDownload(target, './');
  const suite = await updateAndDownload(target, 'stable main');
  return {
    'update, flat repository `./`': flat.update,
    'download, flat repository `./`': flat.download,
    'update, suite': suite.update,
    'download, suite': suite.download,
  };
}

/** The settings keep apt away from those of the system. */
async function updateAndDownload({ url, token }: Target, suite: string) {
  const program = await findProgram('apt-get');
  return withFolder(async (folder) => {
    const file = (name: string) => path.join(folder, name);
    await mkdir(file('lists/partial'), { recursive: true });
    await mkdir(file('cache/archives/partial'), { recursive: true });
    await writeFile(file('sources.list'), `deb [trusted=yes arch=all] ${url} ${suite}\n`);
    await writeFile(
      file('auth.conf'),
      `machine ${new URL(url).origin} login apt password ${token}\n`,
    );
    const settings = [
      `Dir::State::Lists=${file('lists')}`,
      `Dir::State::status=/dev/null`,
      `Dir::Cache=${file('cache')}`,
      `Dir::Etc::SourceList=${file('sources.list')}`,
      'Dir::Etc::SourceParts=-',
      `Dir::Etc::Netrc=${file('auth.conf')}`,
      'Dir::Etc::NetrcParts=-',
      'APT::Sandbox::User=',
      'Acquire::Languages=none',
      'APT::Update::Error-Mode=any',
    ].flatMap((setting) => ['-o', setting]);
    const run = async (...args: string[]) => {
      const { code, output } = await runProgram(program, [...settings, ...args], folder);
      if (code === 0) return 'done';
      const status = /^(?:E|Err|W): ?.* (\d{3}) {2}/m.exec(output)?.[1];
      return status ?? (/Unable to locate package/.test(output) ? 'not found' : output);
    };
    return { update: await run('update'), download: await run('download', 'demo') };
  });
}
