import { fillConfig } from '../lab/fill-config.ts';
import { commandVersion } from '../lab/tools.ts';
import type { PeerKind } from './peer.ts';
import { startPeer } from './start-peer.ts';

const template = (file: string) => new URL(`config/${file}`, import.meta.url);

/** nginx with one worker. Every ratio is taken against it. */
export const nginx: PeerKind = {
  name: 'nginx',
  version: () => commandVersion('nginx', ['-v']),
  start: (site) =>
    startPeer('nginx', site, async (port) => [
      'nginx',
      '-e',
      'stderr',
      '-c',
      await fillConfig(template('nginx.conf'), site, port),
    ]),
};

/** HAProxy with one thread. */
export const haproxy: PeerKind = {
  name: 'HAProxy',
  version: () => commandVersion('haproxy', ['-v']),
  start: (site) =>
    startPeer('HAProxy', site, async (port) => [
      'haproxy',
      '-db',
      '-f',
      await fillConfig(template('haproxy.conf'), site, port),
    ]),
};
