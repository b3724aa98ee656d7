import { commandVersion } from '../tools.ts';
import type { PeerKind } from './peer.ts';
import { fillConfig, startPeer } from './start-peer.ts';

/** HAProxy with one thread. */
export const haproxy: PeerKind = {
  name: 'HAProxy',
  version: () => commandVersion('haproxy', ['-v']),
  start: (site) =>
    startPeer('HAProxy', site, async (port) => [
      ...['haproxy', '-db', '-f'],
      await fillConfig('haproxy.conf', site, port),
    ]),
};
