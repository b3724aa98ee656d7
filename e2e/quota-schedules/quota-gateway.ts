import { startNatsCluster, type NatsCluster } from '@gateway/testing/nats-cluster';
import { NAMES } from '@gateway/shared/messaging/names';
import { eventually } from '@gateway/shared/test/eventually';
import { startTcpRelay, type TcpRelay } from '../faults/harness/relay/tcp-relay.ts';
import { readMetric } from '../harness/figures.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';
import { DATA_PLANES, type Fault } from './schedule.ts';

type DataPlane = Gateway['dataPlanes'][number];
type ServerFault = Extract<Fault, { what: 'nats_server_killed' | 'nats_server_paused' }>;
type HowCut = Extract<Fault, { what: 'link_cut' }>['how'];

/** Three data planes, each with a link of its own to NATS. */
export interface QuotaGateway {
  readonly gateway: Gateway;
  /** The current processes: one that was started again replaces the former one. */
  readonly dataPlanes: readonly DataPlane[];
  /** Breaks something, and repairs it. Resolves when it is repaired. */
  suffer(fault: Fault): Promise<void>;
  /** Resolves when each data plane leases from NATS, and an equal share is reserved for it. */
  steady(): Promise<void>;
  close(): Promise<void>;
}

/** A member that is gone keeps its share for 30 s; a new share holds after 5 s. */
const STEADY = { deadlineMs: 90_000, intervalMs: 100 };
const EQUAL_SHARE = 0.333_333;

const pause = (forMs: number) => new Promise((resolve) => setTimeout(resolve, forMs));

/** @param clustered whether NATS is a cluster of three servers, which the data planes reach without links of their own */
export async function startQuotaGateway(clustered = false): Promise<QuotaGateway> {
  const relays: TcpRelay[] = [];
  const cluster = clustered ? await startNatsCluster() : undefined;
  const close = async (gateway?: Gateway) => {
    await gateway?.close();
    for (const relay of relays) await relay.close();
    await cluster?.close();
  };
  try {
    const gateway = await startGateway({
      dataPlanes: DATA_PLANES,
      env: {
        LOG_LEVEL: 'debug',
        ...(cluster && { NATS_URL: cluster.url, NATS_REPLICAS: String(cluster.nodes.length) }),
      },
      async dataPlaneStart({ nats }, index) {
        if (cluster !== undefined) return { name: `data-plane-${index}` };
        const relay = await startTcpRelay(nats.port);
        relays[index] = relay;
        return { name: `data-plane-${index}`, env: throughRelay(relay) };
      },
    });
    return createQuotaGateway(gateway, relays, cluster, () => close(gateway));
  } catch (error) {
    await close();
    throw error;
  }
}

const throughRelay = ({ port }: TcpRelay) => ({ NATS_URL: `nats://127.0.0.1:${port}` });

function createQuotaGateway(
  gateway: Gateway,
  relays: readonly TcpRelay[],
  cluster: NatsCluster | undefined,
  close: () => Promise<void>,
): QuotaGateway {
  const { stack } = gateway;
  const dataPlanes = [...gateway.dataPlanes];
  let replaced = 0;

  async function suspend(pid: number, forMs: number): Promise<void> {
    process.kill(pid, 'SIGSTOP');
    await pause(forMs);
    process.kill(pid, 'SIGCONT');
  }

  async function restartDataPlane(index: number, folder: 'kept' | 'gone', forMs: number) {
    const [dataPlane, relay] = [dataPlanes[index], relays[index]];
    if (dataPlane === undefined || relay === undefined) throw new Error(`no data plane ${index}`);
    const [port, adminPort] = dataPlane.ports;
    if (port === undefined || adminPort === undefined) throw new Error('a data plane has 2 ports');
    await dataPlane.stop('SIGKILL');
    await pause(forMs);
    const name = folder === 'kept' ? dataPlane.name : `data-plane-new-${(replaced += 1)}`;
    const env = throughRelay(relay);
    dataPlanes[index] = await stack.startDataPlane({ name, port, adminPort, env });
  }

  async function cutLink(index: number, how: HowCut, forMs: number): Promise<void> {
    const relay = relays[index];
    if (how === 'refused') await relay?.refuse();
    else if (how === 'stalled') relay?.stall();
    else relay?.blackHole();
    await pause(forMs);
    await relay?.heal();
  }

  async function breakServer(what: ServerFault['what'], leads: boolean, forMs: number) {
    if (cluster === undefined) throw new Error('NATS is not a cluster');
    const leader = await cluster.leaderOf(`KV_${NAMES.shortQuotaBucket}`);
    const node = leads ? leader : cluster.nodes.find((one) => one !== leader);
    if (node === undefined) throw new Error('the cluster has one server');
    if (what === 'nats_server_paused') return suspend(node.server.pid, forMs);
    await node.server.process.stop('SIGKILL');
    await pause(forMs);
    await node.start();
  }

  async function checkSteady(): Promise<void> {
    for (const { name, adminUrl } of dataPlanes) {
      const leasing = await readMetric(adminUrl, 'gateway_quota_leasing');
      const share = await readMetric(adminUrl, 'gateway_quota_share');
      if (leasing !== 1 || share < EQUAL_SHARE) throw new Error(`${name} has a share of ${share}`);
    }
  }

  return {
    gateway,
    dataPlanes,
    close,
    async steady() {
      await cluster?.complete();
      await eventually(checkSteady, STEADY);
    },
    async suffer(fault) {
      const { forMs } = fault;
      switch (fault.what) {
        case 'nats_killed':
          await stack.nats.process.stop('SIGKILL');
          await pause(forMs);
          await stack.restartNats();
          return;
        case 'nats_paused':
          return suspend(stack.nats.pid, forMs);
        case 'data_plane_killed':
          return restartDataPlane(fault.dataPlane, fault.folder, forMs);
        case 'data_plane_paused':
          return suspend(dataPlanes[fault.dataPlane]?.pid ?? NaN, forMs);
        case 'link_cut':
          return cutLink(fault.dataPlane, fault.how, forMs);
        case 'nats_server_killed':
        case 'nats_server_paused':
          return breakServer(fault.what, fault.leads, forMs);
      }
    },
  };
}
