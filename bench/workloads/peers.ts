import { caddy } from '../peers/caddy.ts';
import { fillConfig } from '../lab/fill-config.ts';
import { startGateway, type GatewayStart } from '../peers/gateway.ts';
import { haproxy, nginx } from '../peers/nginx-and-haproxy.ts';
import type { PeerKind } from '../peers/peer.ts';
import { startPeer } from '../peers/start-peer.ts';

const nginxConfig = new URL('config/nginx-workloads.conf', import.meta.url);

/** nginx that streams bodies. Every ratio is taken against it. */
const streamingNginx: PeerKind = {
  ...nginx,
  start: (site) =>
    startPeer('nginx', site, async (port) => {
      return ['nginx', '-e', 'stderr', '-c', await fillConfig(nginxConfig, site, port)];
    }),
};

/** The proxies of a workload, nginx first; the gateway with the configuration that the workload needs. */
export function workloadPeers(gateway: Pick<GatewayStart, 'configure' | 'settings'>): PeerKind[] {
  return [
    streamingNginx,
    haproxy,
    caddy,
    {
      name: 'gateway',
      version: () => Promise.resolve('gateway of this commit'),
      start: (site) => startGateway(site, gateway),
    },
  ];
}
