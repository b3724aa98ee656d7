import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '@gateway/shared/test/eventually';
import { UndoList } from '@gateway/shared/test/undo-list';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { startNats } from '@gateway/local-stack/nats/start-nats';
import { freePort } from '@gateway/local-stack/process/free-port';
import type { Server } from '@gateway/local-stack/process/managed-process';

/** One server of a cluster. */
export interface NatsNode {
  readonly name: string;
  /** After a start this is the new server. */
  readonly server: Server;
  /** Starts it again on its port after it has ended, with its data or without. */
  start(data?: 'kept' | 'gone'): Promise<void>;
}

/** Three servers with JetStream, as in production, each a process of its own. */
export interface NatsCluster {
  /** `NATS_URL` with all servers. */
  readonly url: string;
  readonly nodes: readonly NatsNode[];
  /** The server that leads a stream; waits until there is one. */
  leaderOf(stream: string): Promise<NatsNode>;
  /** Resolves when each stream has a leader and no replica that is behind. */
  complete(): Promise<void>;
  close(): Promise<void>;
}

const SIZE = 3;
const COMPLETE = { deadlineMs: 60_000, intervalMs: 100 };

/** The part of the answer of `STREAM.INFO` that is read here. */
interface StreamInfo {
  readonly config: { readonly name: string };
  readonly cluster?: {
    readonly leader?: string;
    readonly replicas?: readonly { readonly name: string; readonly current: boolean }[];
  };
}

/**
 * The port at which one server reaches another one, so that a test can put a link between them.
 *
 * @param port where the other one listens
 */
export type RoutePort = (from: number, to: number, port: number) => Promise<number>;

const direct: RoutePort = (_from, _to, port) => Promise.resolve(port);

export interface NatsClusterOptions {
  readonly routePort?: RoutePort;
  /** More settings of a server, by its index. */
  readonly settings?: (index: number) => string;
}

export async function startNatsCluster({
  routePort = direct,
  settings = () => '',
}: NatsClusterOptions = {}): Promise<NatsCluster> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gateway-cluster-'));
  const names = Array.from({ length: SIZE }, (_, index) => `nats-${index}`);
  const ports = await Promise.all(names.map(() => freePort()));
  const undo = new UndoList();
  undo.add(() => rm(folder, { recursive: true, force: true }));
  const starting = await Promise.allSettled(
    names.map(async (name, from) => {
      const routes = ports.map(async (port, to) =>
        to === from ? port : routePort(from, to, port),
      );
      return openNode(path.join(folder, name), name, ports[from], {
        routePorts: await Promise.all(routes),
        more: settings(from),
      });
    }),
  );
  const nodes = starting.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  // One that is frozen does not react to another signal.
  for (const node of nodes) undo.add(() => node.server.process.stop('SIGKILL'));
  const failed = starting.find((one) => one.status === 'rejected');
  if (failed !== undefined) await undo.orUndo(() => Promise.reject(failed.reason as Error));
  const url = nodes.map(({ server }) => server.url).join(',');
  return {
    url,
    nodes,
    // Servers that elect a leader do not answer.
    leaderOf: (stream) =>
      eventually(async () => {
        const { cluster } = await withNats(url, (connection) => infoOf(connection, stream));
        const leader = nodes.find(({ name }) => name === cluster?.leader);
        if (leader === undefined) throw new Error(`${stream} has no leader`);
        return leader;
      }, COMPLETE),
    complete: () =>
      eventually(async () => {
        for (const { config, cluster } of await streamsOf(url)) {
          const behind = cluster?.replicas?.filter(({ current }) => !current) ?? [];
          const replicas = cluster?.replicas?.length ?? 0;
          if (cluster?.leader === undefined || replicas < SIZE - 1 || behind.length > 0)
            throw new Error(`${config.name} is not complete: ${JSON.stringify(cluster)}`);
        }
      }, COMPLETE),
    close: () => undo.run(),
  };
}

async function openNode(
  dataDir: string,
  name: string,
  port: number | undefined,
  { routePorts, more }: { readonly routePorts: readonly number[]; readonly more: string },
): Promise<NatsNode> {
  await mkdir(dataDir, { recursive: true });
  const settingsFile = path.join(dataDir, 'nats.conf');
  const routes = routePorts.map((one) => `"nats://127.0.0.1:${one}"`).join(', ');
  // Intervals as in deploy/nats/cluster.conf. Servers tell each other where they listen; a link would be passed by.
  const nowhere = await freePort();
  await writeFile(
    settingsFile,
    `jetstream { max_memory_store: 64MB, max_file_store: 64GB }
cluster {
  name: "gateway"
  listen: "127.0.0.1:${port}"
  advertise: "127.0.0.1:${nowhere}"
  no_advertise: true
  routes: [${routes}]
}
ping_interval: "5s"
ping_max: 3
write_deadline: "5s"
${more}`,
  );
  const options = { dataDir, name, settingsFile, log: () => undefined };
  let server = await startNats(options);
  return {
    name,
    get server() {
      return server;
    },
    async start(data = 'kept') {
      if (data === 'gone') await rm(path.join(dataDir, 'jetstream'), { recursive: true });
      server = await startNats({ ...options, port: server.port });
    },
  };
}

async function streamsOf(url: string): Promise<readonly StreamInfo[]> {
  return withNats(url, async (connection) => {
    const { streams = [] } = await ask<{ streams?: string[] }>(connection, 'NAMES');
    return Promise.all(streams.map((name) => infoOf(connection, name)));
  });
}

const infoOf = (connection: NatsConnection, stream: string) =>
  ask<StreamInfo>(connection, `INFO.${stream}`);

async function withNats<T>(
  url: string,
  work: (connection: NatsConnection) => Promise<T>,
): Promise<T> {
  const connection = await connect({ servers: url.split(','), reconnect: false, timeout: 2000 });
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

async function ask<T>(connection: NatsConnection, what: string): Promise<T> {
  const reply = await connection.request(`$JS.API.STREAM.${what}`, '', { timeout: 2000 });
  return reply.json();
}
