import { eventually } from '@gateway/shared/test/eventually';
import type { Client } from '../harness/client.ts';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { countWindows } from './granted-windows.ts';
import { startQuotaGateway, type QuotaGateway } from './quota-gateway.ts';
import type { FaultSequence, Schedule } from './schedule.ts';
import { startWindowLoad } from './window-load.ts';

export const LIMIT = 150;
const WINDOW_MS = 2000;
/** To each data plane and route. One alone offers more than the limit. */
const PER_SECOND = 125;
/** Whole windows after the last repair. */
const WINDOWS_AFTER = 2;
/** The load begins this long before a window. */
const LEAD_MS = 100;

/** A window of one route under load. */
export interface WindowResult {
  readonly load: 'all' | 'some';
  /** Certainly granted in this window. */
  readonly granted: number;
  /** Granted in this window or in an earlier one. */
  readonly uncertain: number;
  readonly offered: number;
  /** Something was broken in this window, or not every data plane was back. */
  readonly touched: boolean;
}

/** Runs schedules one after another against one gateway. */
export interface ScheduleRunner {
  run(schedule: Schedule): Promise<readonly WindowResult[]>;
  close(): Promise<void>;
}

const pause = (forMs: number) => new Promise((resolve) => setTimeout(resolve, forMs));
const untilWindow = (count: number) =>
  pause(WINDOW_MS - (Date.now() % WINDOW_MS) + (count - 1) * WINDOW_MS);

/** @param clustered whether NATS is a cluster of three servers */
export async function startScheduleRunner(clustered = false): Promise<ScheduleRunner> {
  const arrivals = new Map<string, Map<string, number>>();
  const upstream = await startUpstream(({ url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://upstream');
    arrivals.get(pathname.slice(1))?.set(searchParams.get('call') ?? '', Date.now());
    response.end('ok');
  });
  const world = await startQuotaGateway(clustered);
  let runs = 0;

  return {
    async run(schedule) {
      const names = [`all-${runs}`, `some-${runs}`] as const;
      runs += 1;
      upstream.seen.length = 0;
      arrivals.clear();
      for (const name of names) arrivals.set(name, new Map());
      await createRoutes(world, upstream, names);
      await world.steady();
      return play(world, schedule, names, arrivals);
    },
    async close() {
      await world.close();
      await upstream.close();
    },
  };
}

async function createRoutes(
  { gateway, dataPlanes }: QuotaGateway,
  upstream: TestUpstream,
  names: readonly string[],
): Promise<void> {
  const { admin } = gateway;
  const at = (baseUrl: string): Client => admin.at(baseUrl);
  const management = at(gateway.controlPlane.baseUrl);
  const rateLimit = { limit: LIMIT, window_seconds: WINDOW_MS / 1000 };
  for (const name of names) {
    const service = { name, environment: 'production', url: `${upstream.url}/${name}` };
    const { id } = await management.create('/v1/services', service);
    const route = { name, service_id: id, rate_limit: rateLimit, retry_count: 0 };
    await management.create('/v1/routes', route);
  }
  for (const { baseUrl } of dataPlanes) {
    for (const name of names) {
      await eventually(
        async () => {
          const { status } = await at(baseUrl).proxy(name, { method: 'GET' });
          if (status !== 200 && status !== 429) throw new Error(`not served yet: ${status}`);
        },
        { deadlineMs: 30_000 },
      );
    }
  }
}

async function play(
  world: QuotaGateway,
  { someDataPlanes, faults }: Schedule,
  [all, some]: readonly [string, string],
  arrivals: ReadonlyMap<string, ReadonlyMap<string, number>>,
): Promise<readonly WindowResult[]> {
  const urls = world.dataPlanes.map(({ baseUrl }) => baseUrl);
  const targets = [
    ...urls.map((baseUrl) => ({ route: all, baseUrl })),
    ...urls
      .filter((_, index) => someDataPlanes.includes(index))
      .map((baseUrl) => ({ route: some, baseUrl })),
  ];
  await pause((2 * WINDOW_MS - LEAD_MS - (Date.now() % WINDOW_MS)) % WINDOW_MS);
  const beganAtMs = Date.now();
  const load = startWindowLoad(targets, world.gateway.admin.token, PER_SECOND);
  await untilWindow(2);
  const brokenAtMs = Date.now();
  let steadyAtMs = Infinity;
  const play = async (sequence: FaultSequence) => {
    for (const [afterMs, fault] of sequence) {
      await pause(afterMs);
      await world.suffer(fault);
    }
  };
  await Promise.all(faults.map(play));
  const repairedAtMs = Date.now();
  const watching = world.steady().then(() => (steadyAtMs = Date.now()));
  await untilWindow(1 + WINDOWS_AFTER);
  const endedAtMs = Date.now();
  const calls = await load.stop();
  await watching;
  const firstFaultMs = Math.min(...faults.map(([first]) => first?.[0] ?? 0));
  const touched = { fromMs: brokenAtMs + firstFaultMs, toMs: Math.max(repairedAtMs, steadyAtMs) };
  const results = (['all', 'some'] as const).map((load) => {
    const route = load === 'all' ? all : some;
    const ofRoute = calls.filter((call) => call.route === route);
    return countWindows(ofRoute, arrivals.get(route) ?? new Map(), WINDOW_MS)
      .map((count) => ({ ...count, startMs: count.window * WINDOW_MS }))
      .filter(({ startMs }) => startMs >= beganAtMs && startMs + WINDOW_MS <= endedAtMs + 20)
      .map(({ granted, uncertain, offered, startMs }) => ({
        load,
        granted,
        uncertain,
        offered,
        touched: startMs < touched.toMs && startMs + WINDOW_MS > touched.fromMs,
      }));
  });
  return results.flat();
}
