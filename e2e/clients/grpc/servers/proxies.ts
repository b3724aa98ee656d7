import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { UndoList } from '@gateway/shared/test/undo-list';
import {
  caddySettings,
  nginxSettings,
  startWebServer,
  type WebServerName,
} from '../../harness/web-server.ts';
import { startGrpcJsServer } from './grpc-js.ts';
import { openRelay, type CallServer } from './server.ts';

/** What comes to the port goes to the upstream, both over HTTP/2 without TLS. */
type ProxySettings = (port: number, upstream: string, folder: string) => readonly string[];

/** Proxies that stand before a server of calls. They have no limits of time or size that a scenario meets. */
const PROXIES = {
  nginx: (port, upstream, folder) =>
    nginxSettings(folder, [
      `    listen 127.0.0.1:${port} http2;`,
      '    client_max_body_size 0;',
      '    http2_max_concurrent_streams 1000;',
      `    location / { grpc_pass grpc://${upstream}; }`,
    ]),
  HAProxy: (port, upstream) => [
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
  Caddy: (port, upstream, folder) =>
    caddySettings(port, folder, [`  reverse_proxy h2c://${upstream}`]),
} satisfies Partial<Record<WebServerName, ProxySettings>>;

export type ProxyName = keyof typeof PROXIES;

/** A grpc-js server behind a proxy. Connections are those to the proxy. */
export async function startBehindProxy(name: ProxyName): Promise<CallServer> {
  const undo = new UndoList();
  return undo.orUndo(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'gateway-client-'));
    undo.add(() => rm(folder, { recursive: true, force: true }));
    const server = await startGrpcJsServer();
    undo.add(() => server.close());
    const { host } = new URL(server.url);
    const proxy = await startWebServer(name, folder, (port) => PROXIES[name](port, host, folder));
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
