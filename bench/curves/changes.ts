import { setTimeout as delay } from 'node:timers/promises';
import {
  createManagementClient,
  type ManagementClient,
} from '@gateway/local-stack/stack/management-client';
import type { ServiceProcess } from '@gateway/local-stack/stack/service-process';
import { createPlaneStack } from '@gateway/testing/processes';
import { UndoList } from '@gateway/shared/test/undo-list';
import { changeRoute } from '../config-change/change-route.ts';
import { untilAllowed } from '../config-change/until-allowed.ts';
import { untilInterrupted } from '../lab/interruption.ts';
import { seed } from '../lab/seed.ts';
import { usageOf } from '../measure/process-tree.ts';
import { readMetrics } from '../measure/prometheus.ts';
import { median } from '../measure/statistics.ts';
import { log } from '../report/log.ts';
import type { Series } from './chart/line-chart.ts';
import type { Curve } from './curve.ts';

const SIZES = [100, 1000, 10_000, 100_000] as const;
const CHANGES = 30;
/** A snapshot of earlier changes may be stored at this time; it is no part of a change. */
const BETWEEN_MS = 50;
const PUBLISHED = 'gateway_control_plane_publish_duration_seconds';

/** What publishing costs over the number of routes: one change, and all of the configuration. */
export const changes: Curve = {
  name: 'changes',
  chart: {
    title: 'Cost of publishing over routes',
    x: { label: 'routes (and as many tokens)', scale: 'log' },
    y: { label: 'ms', scale: 'log' },
  },
  method:
    `Each point is a stack of its own. The median of ${CHANGES} changes of a route, one after the other, in turn on all ` +
    'stacks: the CPU time of the control plane with its API call, and of a data plane. The snapshot was published once, ' +
    'when the configuration was created; its figure is the time that this took.',
  measure: () =>
    untilInterrupted(async (signal) => {
      const undo = new UndoList();
      try {
        return await measure(signal, undo);
      } finally {
        await undo.run();
      }
    }),
};

interface Site {
  readonly size: number;
  readonly client: ManagementClient;
  readonly token: string;
  readonly controlPlane: ServiceProcess;
  readonly dataPlane: ServiceProcess;
  readonly routeIds: readonly string[];
  readonly snapshotMs: number;
}

async function measure(signal: AbortSignal, undo: UndoList): Promise<readonly Series[]> {
  const costs = new Map<Site, { readonly control: number[]; readonly data: number[] }>();
  for (const size of SIZES) costs.set(await start(size, signal, undo), { control: [], data: [] });
  for (let change = 0; change < CHANGES; change += 1) {
    for (const [site, { control, data }] of costs) {
      const before = cpuMs(site);
      await serveChange(site, change, signal);
      const after = cpuMs(site);
      control.push(after.control - before.control);
      data.push(after.data - before.data);
      await delay(BETWEEN_MS, undefined, { signal });
    }
  }
  const series = (name: string, y: (site: Site) => number): Series => {
    return { name, points: [...costs.keys()].map((site) => ({ x: site.size, y: y(site) })) };
  };
  return [
    series('a change: control plane', (site) => median(costs.get(site)?.control ?? [])),
    series('a change: data plane', (site) => median(costs.get(site)?.data ?? [])),
    series('a snapshot', ({ snapshotMs }) => snapshotMs),
  ];
}

async function start(size: number, signal: AbortSignal, undo: UndoList): Promise<Site> {
  log(`starting a stack with ${size} routes`);
  const stack = await createPlaneStack();
  undo.add(() => stack.close());
  const env = { MANAGEMENT_RATE_LIMIT: '1000000' };
  const controlPlane = await stack.startControlPlane({ env, signal });
  const client = createManagementClient(controlPlane.baseUrl, stack.adminToken);
  const snapshots = async () => {
    const read = await readMetrics(controlPlane.adminUrl);
    return read(`${PUBLISHED}_sum{form="snapshot"}`);
  };
  const before = await snapshots();
  const { routeIds } = await seed(
    client,
    stack.databaseUrl,
    { services: 1, routes: size, tokens: size },
    // Nothing listens there: the data plane refuses the requests of this bench by their method.
    { service: { url: 'http://127.0.0.1:9' }, route: { methods: ['PUT'] } },
  );
  const dataPlane = await stack.startDataPlane({ signal });
  const { adminToken: token } = stack;
  await untilAllowed(dataPlane, token, size, 'PUT', signal);
  const snapshotMs = ((await snapshots()) - before) * 1000;
  return { size, client, token, controlPlane, dataPlane, routeIds, snapshotMs };
}

async function serveChange(
  { client, token, dataPlane, routeIds }: Site,
  change: number,
  signal: AbortSignal,
): Promise<void> {
  const { route, method } = await changeRoute(client, routeIds, change);
  await untilAllowed(dataPlane, token, route, method, signal);
}

function cpuMs({ controlPlane, dataPlane }: Site) {
  return {
    control: usageOf(controlPlane.pid).cpuUs / 1000,
    data: usageOf(dataPlane.pid).cpuUs / 1000,
  };
}
