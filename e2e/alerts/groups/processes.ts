import { eventually } from '@gateway/shared/test/eventually';
import { startGateway } from '../../harness/gateway.ts';
import { childrenOf } from '../../operations/workers/group.ts';
import type { AlertGroup, Condition } from '../harness/condition.ts';
import { sendPipelined } from '../harness/pipelined.ts';
import { openUnreadPipe, type UnreadPipe } from '../harness/unread-pipe.ts';
import {
  allOf,
  dataPlane,
  keepSending,
  openWorld,
  type GatewayWorld,
} from '../harness/open-world.ts';

const WORKERS = { WORKERS: '2', DRAIN_GRACE_MS: '200' };
/** Room for two workers at rest, and for few callers. */
const FEW_FILES = ['sh', '-c', 'ulimit -n 120; exec "$@"', 'sh'];
const CALLERS = 160;
const STALL_MS = 600;

const longCalls = (world: GatewayWorld, index: number, count: number) => {
  const client = world.gateway.admin.at(dataPlane(world, index).baseUrl);
  const headers = { connection: 'close' };
  const ends = Array.from({ length: count }, () =>
    keepSending(() => client.proxy('slow', { headers }).catch(() => undefined)),
  );
  return allOf(...ends);
};

const workerKilled: Condition<GatewayWorld> = {
  condition: 'a worker of a group is killed',
  alerts: ['GatewayWorkerCrashedOrHung'],
  resolved: [],
  cause(world) {
    const [worker] = childrenOf(dataPlane(world, 1).pid);
    if (worker === undefined) throw new Error('the group has no worker');
    process.kill(worker, 'SIGKILL');
    return () => Promise.resolve();
  },
};

const noOpenFiles: Condition<GatewayWorld> = {
  condition: 'more callers than the limit on open files of a worker lets in',
  alerts: ['GatewayNoOpenFiles'],
  resolved: [],
  cause: (world) => longCalls(world, 2, CALLERS),
};

const processStalls: Condition<GatewayWorld> = {
  condition: 'a data plane is stopped for 0.6 s again and again',
  alerts: ['GatewayEventLoopBlocked'],
  resolved: [],
  cause(world) {
    const { pid } = dataPlane(world);
    return keepSending(async () => {
      process.kill(pid, 'SIGSTOP');
      await passed(STALL_MS);
      process.kill(pid, 'SIGCONT');
      await passed(STALL_MS);
    });
  },
};

/** Resolves after this time, which is the length of the condition itself. */
async function passed(ms: number): Promise<void> {
  const endMs = performance.now() + ms;
  await eventually(() => {
    if (performance.now() < endMs) throw new Error('not over');
  });
}

/** Above the number of counters that a data plane keeps, and enough log lines to fill the memory for them. */
const ADDRESSES = 110_000;

const tokensGuessed: Condition<ProcessWorld> = {
  condition: 'tokens are guessed from 110,000 addresses while nobody reads the log',
  alerts: ['GatewayCountersDropped', 'GatewayLogLinesDropped'],
  resolved: [],
  async cause(world) {
    const port = Number(dataPlane(world, 3).ports[0]);
    await sendPipelined(port, ADDRESSES, (index) => {
      const address = `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
      return `GET /v1/proxy/healthy HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer guessed\r\nx-forwarded-for: ${address}\r\n\r\n`;
    });
    return () => {
      world.log.read();
      return Promise.resolve();
    };
  },
};

interface ProcessWorld extends GatewayWorld {
  /** The log of the fourth data plane. */
  readonly log: UnreadPipe;
}

/** The first data plane is one process, the second a group, the third a group with few open files. */
export const processes: AlertGroup<ProcessWorld> = {
  name: 'processes',
  async open() {
    const log = await openUnreadPipe();
    const { launcher } = log;
    const starts = [{}, { env: WORKERS }, { env: WORKERS, launcher: FEW_FILES }, { launcher }];
    const gateway = await startGateway({
      dataPlanes: starts.length,
      dataPlaneStart: (_stack, index) => starts[index] ?? {},
    });
    await gateway.route({ name: 'slow', upstreamPath: '/slow/1500' });
    return { ...(await openWorld(gateway, [], [() => log.close()])), log };
  },
  conditions: [workerKilled, noOpenFiles, processStalls, tokensGuessed],
};
