import { setTimeout as delay } from 'node:timers/promises';
import { createManagementClient } from '@gateway/local-stack/stack/management-client';
import { createPlaneStack } from '@gateway/testing/processes';
import { withLab, type Lab } from '../lab/lab.ts';
import { runLoad, type LoadResult, type LoadShape } from '../load/wrk.ts';
import { pinned } from '../lab/cores.ts';
import { WIDE_QUOTA } from '../lab/management.ts';
import { ownCpuUsOf, usageOf } from '../measure/process-tree.ts';
import { median } from '../measure/statistics.ts';
import { configureOne } from '../peers/gateway-configuration.ts';
import { untilServed } from '../peers/gateway.ts';
import { formatCells } from '../report/table.ts';

const TIMEOUT_MS = 240_000;
const WARM_UP_SECONDS = 4;
const ROUNDS = 5;
const SECONDS = 2;
const CONNECTIONS = 64;
const SETTLE_MS = 500;

const SHAPES = {
  'connections kept': {},
  'a connection for each request': { closing: true },
} as const satisfies Readonly<Record<string, LoadShape>>;

type ShapeName = keyof typeof SHAPES;

/** Measures one process and a group of two workers under the same load, alternately, and prints a table. */
export async function runWorkers(): Promise<void> {
  await withLab(TIMEOUT_MS, async (lab) => {
    const table = await measure(lab);
    process.stdout.write(
      `${table}\n\nMedians of ${ROUNDS} rounds of ${SECONDS} s, ${CONNECTIONS} connections, ` +
        `${lab.cores.all.length} cores, one of which the load, the upstream and NATS share.\n`,
    );
  });
}

interface Subject {
  readonly workers: number;
  readonly url: string;
  readonly authorization: string;
  readonly pid: number;
}

interface Round {
  readonly perSecond: number;
  readonly cpuUs: number;
  /** CPU time of the started process alone, without its children: in a group, the primary. */
  readonly ownCpuUs: number;
  readonly p99Ms: number;
  readonly residentMb: number;
}

async function startSubjects({ cores, runner, site }: Lab): Promise<readonly Subject[]> {
  const stack = await createPlaneStack();
  runner.defer('gateway', () => stack.close());
  const controlPlane = await stack.startControlPlane();
  const client = createManagementClient(controlPlane.baseUrl, stack.adminToken);
  const upstreamUrl = `http://127.0.0.1:${site.upstreamPort}`;
  const { authorization } = await configureOne(client, upstreamUrl, WIDE_QUOTA);
  // Two workers need both cores, so they share one of them with the load.
  const launcher = pinned(cores.all.join(','));
  const subjects: Subject[] = [];
  for (const workers of [1, 2]) {
    const { baseUrl, pid } = await stack.startDataPlane({
      name: `workers-${workers}`,
      launcher,
      signal: site.signal,
      env: { WORKERS: String(workers) },
    });
    const url = `${baseUrl}/v1/proxy/orders`;
    await untilServed(url, authorization, site.signal);
    subjects.push({ workers, url, authorization, pid });
  }
  // Storing records would take CPU time from the measured processes.
  await controlPlane.stop();
  return subjects;
}

async function runRound(
  { url, authorization, pid }: Subject,
  shape: LoadShape,
  seconds: number,
  signal: AbortSignal,
): Promise<Round> {
  const before = { cpuUs: usageOf(pid).cpuUs, ownCpuUs: ownCpuUsOf(pid) };
  const load = { ...shape, url, authorization, connections: CONNECTIONS, seconds, signal };
  const result: LoadResult = await runLoad(load);
  if (result.failed_status > 0) throw new Error(`${result.failed_status} responses were not 2xx`);
  const after = usageOf(pid);
  return {
    perSecond: (result.requests * 1e6) / result.duration_us,
    cpuUs: (after.cpuUs - before.cpuUs) / result.requests,
    ownCpuUs: (ownCpuUsOf(pid) - before.ownCpuUs) / result.requests,
    p99Ms: result.p99_us / 1000,
    residentMb: after.residentBytes / 2 ** 20,
  };
}

async function measure(lab: Lab): Promise<string> {
  const subjects = await startSubjects(lab);
  const { signal } = lab.site;
  const names = Object.keys(SHAPES) as ShapeName[];
  const rounds = new Map<string, Round[]>();
  const keyOf = (name: ShapeName, workers: number) => `${name}/${workers}`;
  for (const subject of subjects) {
    for (const name of names) await runRound(subject, SHAPES[name], WARM_UP_SECONDS, signal);
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of names) {
      for (const subject of subjects) {
        await delay(SETTLE_MS, undefined, { signal });
        const key = keyOf(name, subject.workers);
        const all = rounds.get(key) ?? [];
        rounds.set(key, all);
        all.push(await runRound(subject, SHAPES[name], SECONDS, signal));
      }
    }
  }
  const rows = names.flatMap((name) =>
    subjects.map(({ workers }) => {
      const own = rounds.get(keyOf(name, workers)) ?? [];
      const alone = rounds.get(keyOf(name, 1)) ?? [];
      const of = (figure: keyof Round) => median(own.map((round) => round[figure]));
      // Rounds that follow each other are compared, so that a disturbance of the machine hits both.
      const ratio = median(
        own.map(({ perSecond }, at) => perSecond / (alone[at]?.perSecond ?? NaN)),
      );
      return [
        name,
        String(workers),
        of('perSecond').toFixed(0),
        ratio.toFixed(2),
        of('cpuUs').toFixed(1),
        workers === 1 ? '' : of('ownCpuUs').toFixed(1),
        of('p99Ms').toFixed(1),
        of('residentMb').toFixed(0),
      ];
    }),
  );
  const cpu = ['CPU µs/request', 'of which primary'];
  const head = ['load', 'workers', 'requests/s', '× one', ...cpu, 'p99 ms', 'resident MB'];
  return formatCells(head, rows);
}
