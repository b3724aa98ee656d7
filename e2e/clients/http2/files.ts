import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { freePort } from '@gateway/local-stack/process/free-port';
import { UndoList } from '@gateway/shared/test/undo-list';
import { startDaemon } from '../harness/daemon.ts';
import type { Observations, Pair, StartedServer } from '../harness/pair.ts';
import { findServer } from '../harness/program.ts';
import { runSteps, type Step } from './requests.ts';

const LARGE_BYTES = 10_000_000;
const PAGE = 'a page of a few words\n';

interface FileServer {
  readonly name: string;
  readonly package: string;
  readonly program: string;
  readonly file: string;
  settings(port: number, folder: string, files: string): readonly string[];
  args(file: string, folder: string): readonly string[];
}

const NGINX_FOLDERS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** Servers that serve a folder over HTTP/2 without TLS. */
const SERVERS: readonly FileServer[] = [
  {
    name: 'nginx',
    package: 'nginx',
    program: 'usr/sbin/nginx',
    file: 'nginx.conf',
    settings: (port, folder, files) => [
      'daemon off;',
      'master_process off;',
      `pid ${folder}/pid;`,
      'events {}',
      'http {',
      '  access_log off;',
      ...NGINX_FOLDERS.map((name) => `  ${name}_temp_path ${folder}/${name};`),
      `  server { listen 127.0.0.1:${port} http2; root ${files}; }`,
      '}',
    ],
    args: (file, folder) => ['-p', folder, '-e', `${folder}/log`, '-c', file],
  },
  {
    name: 'h2o',
    package: 'h2o',
    program: 'usr/bin/h2o',
    file: 'h2o.conf',
    settings: (port, folder, files) => [
      // As root it would become another user, who could not read the folder.
      `user: ${userInfo().username}`,
      'num-threads: 1',
      `error-log: ${folder}/log`,
      'listen:',
      '  host: 127.0.0.1',
      `  port: ${port}`,
      'hosts:',
      '  default:',
      '    paths:',
      '      "/":',
      `        file.dir: ${files}`,
    ],
    args: (file) => ['-c', file],
  },
  {
    name: 'Caddy',
    package: 'caddy',
    program: 'usr/bin/caddy',
    file: 'Caddyfile',
    settings: (port, folder, files) => [
      '{',
      '  admin off',
      '  auto_https off',
      `  storage file_system ${folder}`,
      '  servers {',
      '    protocols h1 h2c',
      '  }',
      '}',
      `http://:${port} {`,
      '  bind 127.0.0.1',
      `  root * ${files}`,
      '  file_server',
      '}',
    ],
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
];

const STEPS: Readonly<Record<string, Step>> = {
  GET: async (send) => {
    const { status, body } = await send({ path: '/page.txt' });
    return `${status}, ${body.toString().trim()}`;
  },
  'GET, 10 MB': async (send) => {
    const { status, body } = await send({ path: '/large' });
    return `${status}, ${body.length} bytes`;
  },
  HEAD: async (send) => {
    const { status, headers, body } = await send({ path: '/large', method: 'HEAD' });
    return `${status}, content-length ${headers['content-length']}, ${body.length} bytes`;
  },
  'GET, a range': async (send) => {
    const { status, body } = await send({ path: '/page.txt', headers: { range: 'bytes=2-5' } });
    return `${status}, ${body.toString()}`;
  },
  'GET, the same `ETag`': async (send) => {
    const { headers } = await send({ path: '/page.txt' });
    const again = { 'if-none-match': headers.etag ?? '' };
    return String((await send({ path: '/page.txt', headers: again })).status);
  },
  'GET, no such file': async (send) => String((await send({ path: '/nowhere' })).status),
  '100 GETs at one time': async (send) => {
    const many = await Promise.all(Array.from({ length: 100 }, () => send({ path: '/page.txt' })));
    return `${many.filter(({ body }) => body.toString() === PAGE).length} complete`;
  },
};

const SEEN: Observations = {
  GET: `200, ${PAGE.trim()}`,
  'GET, 10 MB': `200, ${LARGE_BYTES} bytes`,
  HEAD: `200, content-length ${LARGE_BYTES}, 0 bytes`,
  'GET, a range': '206, page',
  'GET, the same `ETag`': '304',
  'GET, no such file': '404',
  '100 GETs at one time': '100 complete',
};

/** node:http2 as the client of servers of files. */
export const filePairs: readonly Pair[] = SERVERS.map((server) => ({
  client: 'node:http2',
  version: 'of Node',
  variant: `files of ${server.name}`,
  reach: 'host',
  direct: SEEN,
  otherwise: {},
  start: () => startFileServer(server),
}));

async function startFileServer(server: FileServer): Promise<StartedServer> {
  const undo = new UndoList();
  return undo.orUndo(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'gateway-client-'));
    undo.add(() => rm(folder, { recursive: true, force: true }));
    const files = path.join(folder, 'files');
    await mkdir(files);
    await writeFile(path.join(files, 'page.txt'), PAGE);
    await writeFile(path.join(files, 'large'), Buffer.alloc(LARGE_BYTES, 'large '));
    const program = await findServer(path.basename(server.program), server.package, server.program);
    const port = await freePort();
    const file = path.join(folder, server.file);
    await writeFile(file, `${server.settings(port, folder, files).join('\n')}\n`);
    const daemon = await startDaemon(program, server.args(file, folder), port);
    undo.add(() => daemon.stop());
    return {
      urls: [`http://127.0.0.1:${port}`],
      service: { protocol: 'http2' },
      use: (target) => runSteps(STEPS, target),
      close: () => undo.run(),
    };
  });
}
