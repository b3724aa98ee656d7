import path from 'node:path';
import { fillConfig } from '../lab/fill-config.ts';
import type { Site } from '../lab/site.ts';
import { caddy } from '../peers/caddy.ts';
import { startGateway, type GatewayStart } from '../peers/gateway.ts';
import { haproxy, nginx } from '../peers/nginx-and-haproxy.ts';
import type { PeerKind } from '../peers/peer.ts';
import { startPeer } from '../peers/start-peer.ts';
import { CERTIFICATE_FILES } from './certificate.ts';

/** How the proxies of a workload differ from those of the others. */
export interface PeerOptions {
  /** How the gateway is configured. */
  readonly gateway?: Pick<GatewayStart, 'configure' | 'settings'>;
  /** Whether the callers use TLS. */
  readonly secure?: boolean;
  /** Lines of the configuration files. */
  readonly nginx?: {
    readonly location?: string;
    readonly path?: string;
    readonly servers?: number;
  };
  readonly haproxy?: (site: Site) => { readonly frontend?: string; readonly backend?: string };
  /** Value of the Authorization header, for an HAProxy that checks it. */
  readonly authorization?: () => Promise<string>;
  readonly caddy?: { readonly flush?: string };
}

const template = (file: string) => new URL(`config/${file}`, import.meta.url);

/** nginx that streams bodies. Every ratio is taken against it. */
export function workloadNginx({ secure = false, nginx: lines = {} }: PeerOptions): PeerKind {
  return {
    ...nginx,
    start: (site) =>
      startPeer(
        'nginx',
        site,
        async (port) => {
          const server = `server 127.0.0.1:${site.upstreamPort} max_fails=0;`;
          const config = await fillConfig(template('nginx-workloads.conf'), site, port, {
            SERVERS: server.repeat(lines.servers ?? 1),
            LISTEN: secure ? 'ssl http2' : '',
            PATH: lines.path ?? '',
            LOCATION: lines.location ?? '',
          });
          return ['nginx', '-e', 'stderr', '-c', config];
        },
        { scheme: schemeOf(secure) },
      ),
  };
}

/** HAProxy with one thread. */
export function workloadHaproxy({
  secure = false,
  haproxy: linesOf,
  authorization,
}: PeerOptions): PeerKind {
  return {
    ...haproxy,
    start: async (site) =>
      startPeer(
        'HAProxy',
        site,
        async (port) => {
          const pem = path.join(site.folder, CERTIFICATE_FILES.both);
          const lines = linesOf?.(site);
          const config = await fillConfig(template('haproxy-workloads.conf'), site, port, {
            BIND: secure ? `ssl crt ${pem} alpn h2,http/1.1 ssl-min-ver TLSv1.3` : '',
            FRONTEND: lines?.frontend ?? '',
            BACKEND: lines?.backend ?? '',
          });
          return ['haproxy', '-db', '-f', config];
        },
        { scheme: schemeOf(secure), authorization: await authorization?.() },
      ),
  };
}

/** Caddy. */
function workloadCaddy({ secure = false, caddy: lines = {} }: PeerOptions): PeerKind {
  return {
    ...caddy,
    start: (site) =>
      startPeer(
        'Caddy',
        site,
        async (port) => {
          const file = (name: string) => path.join(site.folder, name);
          const { certificate, key } = CERTIFICATE_FILES;
          const config = await fillConfig(template('Caddyfile-workloads'), site, port, {
            SCHEME: schemeOf(secure),
            TLS: secure ? `tls ${file(certificate)} ${file(key)}` : '',
            FLUSH: lines.flush ?? '0',
          });
          return ['caddy', 'run', '--adapter', 'caddyfile', '--config', config];
        },
        { scheme: schemeOf(secure) },
      ),
  };
}

/** The gateway of this checkout. */
export function workloadGateway({ secure = false, gateway = {} }: PeerOptions): PeerKind {
  const { settings } = gateway;
  return {
    name: 'gateway',
    version: () => Promise.resolve('gateway of this commit'),
    start: (site) =>
      startGateway(site, {
        ...gateway,
        secure,
        settings: (at) => ({
          ...(secure && {
            TLS_CERT_FILE: path.join(at.folder, CERTIFICATE_FILES.certificate),
            TLS_KEY_FILE: path.join(at.folder, CERTIFICATE_FILES.key),
          }),
          ...settings?.(at),
        }),
      }),
  };
}

/** All proxies, nginx first. */
export function workloadPeers(options: PeerOptions): PeerKind[] {
  return [
    workloadNginx(options),
    workloadHaproxy(options),
    workloadCaddy(options),
    workloadGateway(options),
  ];
}

const schemeOf = (secure: boolean) => (secure ? 'https' : 'http');
