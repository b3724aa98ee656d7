import { commandVersion } from '../tools.ts';
import type { PeerKind } from './peer.ts';
import { fillConfig, startPeer } from './start-peer.ts';

/** nginx with one worker: what the ratio is taken against. */
export const nginx: PeerKind = {
  name: 'nginx',
  version: () => commandVersion('nginx', ['-v']),
  start: (site) =>
    startPeer('nginx', site, async (port) => [
      ...['nginx', '-e', 'stderr', '-c'],
      await fillConfig('nginx.conf', site, port),
    ]),
};
