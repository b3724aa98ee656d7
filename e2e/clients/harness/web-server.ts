import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '@gateway/local-stack/process/free-port';
import { startDaemon } from './daemon.ts';
import { findServer } from './program.ts';

/** A server of Debian whose settings are one file. */
interface WebServer {
  /** The package of Debian, and the program in it. */
  readonly package: string;
  readonly program: string;
  /** The name of the file of its settings. */
  readonly file: string;
  args(file: string, folder: string): readonly string[];
}

const WEB_SERVERS = {
  nginx: {
    package: 'nginx',
    program: 'usr/sbin/nginx',
    file: 'nginx.conf',
    args: (file, folder) => ['-p', folder, '-e', `${folder}/log`, '-c', file],
  },
  HAProxy: {
    package: 'haproxy',
    program: 'usr/sbin/haproxy',
    file: 'haproxy.cfg',
    args: (file) => ['-db', '-f', file],
  },
  Caddy: {
    package: 'caddy',
    program: 'usr/bin/caddy',
    file: 'Caddyfile',
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
  h2o: {
    package: 'h2o',
    program: 'usr/bin/h2o',
    file: 'h2o.conf',
    args: (file) => ['-c', file],
  },
} satisfies Readonly<Record<string, WebServer>>;

export type WebServerName = keyof typeof WEB_SERVERS;

/** Starts a server with its settings in a folder, at a free port. */
export async function startWebServer(
  name: WebServerName,
  folder: string,
  settings: (port: number) => readonly string[],
) {
  const server: WebServer = WEB_SERVERS[name];
  const { program: inPackage } = server;
  const program = await findServer(path.basename(inPackage), server.package, inPackage);
  const port = await freePort();
  const file = path.join(folder, server.file);
  await writeFile(file, `${settings(port).join('\n')}\n`);
  const daemon = await startDaemon(program, server.args(file, folder), port);
  return { port, stop: () => daemon.stop() };
}

const NGINX_FOLDERS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** Settings of nginx. It is one process, that of the test: another user could not use the folder. */
export function nginxSettings(folder: string, server: readonly string[]): string[] {
  return [
    'daemon off;',
    'master_process off;',
    `pid ${folder}/pid;`,
    'events { worker_connections 4096; }',
    'http {',
    '  access_log off;',
    ...NGINX_FOLDERS.map((name) => `  ${name}_temp_path ${folder}/${name};`),
    '  server {',
    ...server,
    '  }',
    '}',
  ];
}

/** Settings of Caddy for one site that serves HTTP/2 without TLS. */
export function caddySettings(port: number, folder: string, site: readonly string[]): string[] {
  return [
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
    ...site,
    '}',
  ];
}
