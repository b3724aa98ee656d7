import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { UndoList } from '@gateway/shared/test/undo-list';
import type { Observations, Pair, StartedServer } from '../harness/pair.ts';
import {
  caddySettings,
  nginxSettings,
  startWebServer,
  type WebServerName,
} from '../harness/web-server.ts';
import { runSteps, type Step } from './requests.ts';

const LARGE_BYTES = 10_000_000;
const PAGE = 'a page of a few words\n';

/** Servers that serve a folder over HTTP/2 without TLS. */
const SERVERS = {
  nginx: (port, folder, files) =>
    nginxSettings(folder, [`    listen 127.0.0.1:${port} http2;`, `    root ${files};`]),
  h2o: (port, folder, files) => [
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
  Caddy: (port, folder, files) =>
    caddySettings(port, folder, [`  root * ${files}`, '  file_server']),
} satisfies Partial<
  Record<WebServerName, (port: number, folder: string, files: string) => readonly string[]>
>;

type FileServerName = keyof typeof SERVERS;

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
export const filePairs: readonly Pair[] = (['nginx', 'h2o', 'Caddy'] as const).map((name) => ({
  client: 'node:http2',
  version: 'of Node',
  variant: `files of ${name}`,
  reach: 'host',
  direct: SEEN,
  otherwise: {},
  start: () => startFileServer(name),
}));

async function startFileServer(name: FileServerName): Promise<StartedServer> {
  const undo = new UndoList();
  return undo.orUndo(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'gateway-client-'));
    undo.add(() => rm(folder, { recursive: true, force: true }));
    const files = path.join(folder, 'files');
    await mkdir(files);
    await writeFile(path.join(files, 'page.txt'), PAGE);
    await writeFile(path.join(files, 'large'), Buffer.alloc(LARGE_BYTES, 'large '));
    const server = await startWebServer(name, folder, (port) => SERVERS[name](port, folder, files));
    undo.add(() => server.stop());
    return {
      urls: [`http://127.0.0.1:${server.port}`],
      service: { protocol: 'http2' },
      use: (target) => runSteps(STEPS, target),
      close: () => undo.run(),
    };
  });
}
