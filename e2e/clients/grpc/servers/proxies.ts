import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '@gateway/local-stack/process/free-port';
import { UndoList } from '@gateway/shared/test/undo-list';
import { startDaemon } from '../../harness/daemon.ts';
import { findServer } from '../../harness/program.ts';
import { startGrpcJsServer } from './grpc-js.ts';
import { openRelay, type CallServer } from './server.ts';

interface ProxyPlan {
  /** The package of Debian, and the program in it. */
  readonly package: string;
  readonly program: string;
  /** The name of the file of its settings. */
  readonly file: string;
  /** Its settings: what comes to the port goes to the upstream, both over HTTP/2 without TLS. */
  settings(port: number, upstream: string, folder: string): readonly string[];
  args(file: string, folder: string): readonly string[];
}

/** Proxies that stand before a server of calls. They have no limits of time or size that a scenario meets. */
const PROXIES = {
  nginx: {
    package: 'nginx',
    program: 'usr/sbin/nginx',
    file: 'nginx.conf',
    settings: (port, upstream, folder) => [
      ...nginxInFolder(folder),
      'http {',
      '  access_log off;',
      ...NGINX_FOLDERS.map((name) => `  ${name}_temp_path ${folder}/${name};`),
      '  server {',
      `    listen 127.0.0.1:${port} http2;`,
      '    client_max_body_size 0;',
      '    http2_max_concurrent_streams 1000;',
      `    location / { grpc_pass grpc://${upstream}; }`,
      '  }',
      '}',
    ],
    args: (file, folder) => ['-p', folder, '-e', `${folder}/log`, '-c', file],
  },
  HAProxy: {
    package: 'haproxy',
    program: 'usr/sbin/haproxy',
    file: 'haproxy.cfg',
    settings: (port, upstream) => [
      'defaults',
      '  mode http',
      '  timeout connect 5s',
      '  timeout client 60s',
      '  timeout server 60s',
      'frontend calls',
      `  bind 127.0.0.1:${port} proto h2`,
      '  default_backend servers',
      'backend servers',
      `  server one ${upstream} proto h2`,
    ],
    args: (file) => ['-db', '-f', file],
  },
  Caddy: {
    package: 'caddy',
    program: 'usr/bin/caddy',
    file: 'Caddyfile',
    settings: (port, upstream, folder) => [
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
      `  reverse_proxy h2c://${upstream}`,
      '}',
    ],
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
} satisfies Readonly<Record<string, ProxyPlan>>;

export type ProxyName = keyof typeof PROXIES;

const NGINX_FOLDERS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** One process, that of the test: another user could not use the folder. */
function nginxInFolder(folder: string): string[] {
  return [
    'daemon off;',
    'master_process off;',
    `pid ${folder}/pid;`,
    'events { worker_connections 4096; }',
  ];
}

/** A grpc-js server behind a proxy. Connections are those to the proxy. */
export async function startBehindProxy(name: ProxyName): Promise<CallServer> {
  const undo = new UndoList();
  return undo.orUndo(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'gateway-client-'));
    undo.add(() => rm(folder, { recursive: true, force: true }));
    const server = await startGrpcJsServer();
    undo.add(() => server.close());
    const proxy = await startProxy(name, server.url, folder);
    undo.add(() => proxy.stop());
    const relay = await openRelay(() => proxy.port);
    undo.add(() => relay.close());
    return {
      ...server,
      url: relay.url,
      takeMostConnections: () => relay.takeMostConnections(),
      close: () => undo.run(),
    };
  });
}

/** Starts a proxy with its settings in a folder. */
async function startProxy(name: ProxyName, upstream: string, folder: string) {
  const plan: ProxyPlan = PROXIES[name];
  const program = await findServer(path.basename(plan.program), plan.package, plan.program);
  const port = await freePort();
  const file = path.join(folder, plan.file);
  await writeFile(file, `${plan.settings(port, new URL(upstream).host, folder).join('\n')}\n`);
  const daemon = await startDaemon(program, plan.args(file, folder), port);
  return { port, stop: () => daemon.stop() };
}
