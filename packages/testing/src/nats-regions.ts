import { UndoList } from '@gateway/shared/test/undo-list';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startNats } from '@gateway/local-stack/nats/start-nats';
import { freePort } from '@gateway/local-stack/process/free-port';
import { startNatsCluster, type NatsCluster } from './nats-cluster.ts';

/** The NATS of two regions, joined by gateways. Only the home region has JetStream, so it needs no server of the other one. */
export interface NatsRegions {
  /** Three servers. */
  readonly home: NatsCluster;
  /** `NATS_URL` in the other region, which has one server. */
  readonly remoteUrl: string;
  close(): Promise<void>;
}

const HOME_SERVERS = 3;

/**
 * @param linkTo called with the port at which a server takes connections of the other region; returns the port at which the
 *   other region reaches it
 */
export async function startNatsRegions(
  linkTo: (port: number) => Promise<number>,
): Promise<NatsRegions> {
  const homePorts = await Promise.all(Array.from({ length: HOME_SERVERS }, () => freePort()));
  const [remotePort, nowhere] = await Promise.all([freePort(), freePort()]);
  const [homeLinks, remoteLink] = await Promise.all([
    Promise.all(homePorts.map(linkTo)),
    linkTo(remotePort),
  ]);
  const dataDir = await mkdtemp(path.join(tmpdir(), 'gateway-region-'));
  const undo = new UndoList();
  undo.add(() => rm(dataDir, { recursive: true, force: true }));
  // Servers tell each other where they listen; a link would be passed by.
  const gateway = (
    name: string,
    port: number | undefined,
    other: string,
    links: readonly number[],
  ) =>
    `gateway {
  name: "${name}"
  listen: "127.0.0.1:${port}"
  advertise: "127.0.0.1:${nowhere}"
  gateways: [{ name: "${other}", urls: [${links.map((link) => `"nats://127.0.0.1:${link}"`).join(', ')}] }]
}
`;
  return undo.orUndo(async () => {
    const settingsFile = path.join(dataDir, 'nats.conf');
    const intervals = 'ping_interval: "5s"\nping_max: 3\nwrite_deadline: "5s"\n';
    await writeFile(settingsFile, intervals + gateway('remote', remotePort, 'gateway', homeLinks));
    // The home region elects its first leader once the gateways are open, so both start at once.
    const [home, remote] = await Promise.allSettled([
      startNatsCluster({
        settings: (index) => gateway('gateway', homePorts[index], 'remote', [remoteLink]),
      }),
      startNats({ dataDir, settingsFile, name: 'remote', log: () => undefined }),
    ]);
    if (home.status === 'fulfilled') undo.add(() => home.value.close());
    if (remote.status === 'fulfilled') undo.add(() => remote.value.process.stop('SIGKILL'));
    if (home.status === 'rejected') throw home.reason;
    if (remote.status === 'rejected') throw remote.reason;
    return { home: home.value, remoteUrl: remote.value.url, close: () => undo.run() };
  });
}
