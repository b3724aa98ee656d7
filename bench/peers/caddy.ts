import { fillConfig } from '../lab/fill-config.ts';
import { commandVersion } from '../lab/tools.ts';
import type { PeerKind } from './peer.ts';
import { startPeer } from './start-peer.ts';

/** Caddy. Go runs as many threads as the process may use cores, which is one. */
export const caddy: PeerKind = {
  name: 'Caddy',
  needs: 'caddy',
  version: async () => `Caddy ${(await commandVersion('caddy', ['version'])).split(' ')[1]}`,
  start: (site) =>
    startPeer('Caddy', site, async (port) => {
      const config = await fillConfig(new URL('config/Caddyfile', import.meta.url), site, port);
      return ['caddy', 'run', '--adapter', 'caddyfile', '--config', config];
    }),
};
