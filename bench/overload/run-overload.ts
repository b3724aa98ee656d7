import { setTimeout as delay } from 'node:timers/promises';
import { createManagementClient } from '@gateway/local-stack/stack/management-client';
import { createPlaneStack } from '@gateway/testing/processes';
import { UndoList } from '@gateway/shared/test/undo-list';
import { ForkedUpstreams } from '../lab/forked-upstreams.ts';
import { untilInterrupted } from '../lab/interruption.ts';
import { createRoute } from '../lab/management.ts';
import { BENCHMARKS, writeSection } from '../report/document.ts';
import { formatCells } from '../report/table.ts';
import { openLoad, type OpenLoadResult } from './open-load.ts';
import type { UpstreamOrder } from './upstream-process.ts';

/** What `npm run bench -- overload` is given. */
export interface OverloadOptions extends UpstreamOrder {
  /** The load, in parts of the capacity. */
  readonly times: number;
  readonly seconds: number;
  readonly dataPlanes: number;
  /** Whether the table goes into the document too. */
  readonly write: boolean;
}

const UNLOADED = 0.1;
const WARM_UP_SECONDS = 12;
const SERVED_MS = 1500;
const DEADLINE_MS = 1000;
const MIN_GOODPUT = 0.9;
const MAX_P99_RATIO = 3;
const HEAD = [
  'service',
  'load',
  'good/s',
  'of capacity',
  'p50 ms',
  'p99 ms',
  'refused/s',
  'left/s',
];

/**
 * Sends a service more requests than its upstream can serve, with and without an adaptive limit, and prints what the
 * callers get. Sets exit code 1 if the adaptive limit does not keep the goodput and the latency.
 */
export function runOverload(options: OverloadOptions): Promise<void> {
  return untilInterrupted((signal) => runUntil(signal, options));
}

async function runUntil(signal: AbortSignal, options: OverloadOptions): Promise<void> {
  const undo = new UndoList();
  const script = new URL('upstream-process.ts', import.meta.url);
  const upstreams = new ForkedUpstreams(script, signal);
  undo.add(() => upstreams.stop());
  try {
    const stack = await createPlaneStack();
    undo.add(() => stack.close());
    const controlPlane = await stack.startControlPlane();
    const client = createManagementClient(controlPlane.baseUrl, stack.adminToken);
    for (const adaptive of [true, false]) {
      const { workers, workMs } = options;
      const { url } = await upstreams.start(JSON.stringify({ workers, workMs }));
      await createRoute(client, nameOf(adaptive), {
        service: { url, limits: { adaptive } },
        route: { retry_count: 0 },
      });
    }
    const baseUrls: string[] = [];
    for (let plane = 0; plane < options.dataPlanes; plane += 1) {
      baseUrls.push((await stack.startDataPlane()).baseUrl);
    }
    await delay(SERVED_MS, undefined, { signal });
    await measure(options, baseUrls, stack.adminToken, signal);
  } finally {
    await undo.run();
  }
}

async function measure(
  options: OverloadOptions,
  baseUrls: readonly string[],
  token: string,
  signal: AbortSignal,
) {
  const { workers, workMs, times, seconds } = options;
  const capacity = (workers * 1000) / workMs;
  const run = (name: string, load: number) =>
    openLoad({
      urls: baseUrls.map((baseUrl) => `${baseUrl}/v1/proxy/${name}`),
      token,
      perSecond: Math.round(capacity * load),
      warmUpSeconds: WARM_UP_SECONDS,
      seconds,
      deadlineMs: DEADLINE_MS,
      signal,
    });
  const unloaded = await run(nameOf(true), UNLOADED);
  const limited = await run(nameOf(true), times);
  const unlimited = await run(nameOf(false), times);
  const table = formatCells(HEAD, [
    cells('adaptive', UNLOADED, unloaded, capacity),
    cells('adaptive', times, limited, capacity),
    cells('not adaptive', times, unlimited, capacity),
  ]);
  const goodput = limited.goodPerSecond / capacity;
  const ratio = limited.p99Ms / unloaded.p99Ms;
  const isKept = goodput >= MIN_GOODPUT && ratio <= MAX_P99_RATIO;
  if (!isKept) process.exitCode = 1;
  const text =
    `${table}\n\n${workers} workers of ${workMs} ms serve ${capacity} requests/s. ` +
    `Callers leave after ${DEADLINE_MS} ms. Each row: ${seconds} s after ${WARM_UP_SECONDS} s. ` +
    `The p99 under load is ${ratio.toFixed(1)} × the unloaded one.`;
  process.stdout.write(`${text}\n`);
  if (options.write) await writeSection(BENCHMARKS, 'overload', text);
}

function cells(service: string, load: number, result: OpenLoadResult, capacity: number): string[] {
  return [
    service,
    `${load} ×`,
    result.goodPerSecond.toFixed(0),
    `${((result.goodPerSecond / capacity) * 100).toFixed(0)} %`,
    milliseconds(result.p50Ms),
    milliseconds(result.p99Ms),
    result.refusedPerSecond.toFixed(0),
    (result.leftPerSecond + result.failedPerSecond).toFixed(0),
  ];
}

/** Without a good response there is no latency. */
const milliseconds = (ms: number) => (Number.isNaN(ms) ? '' : ms.toFixed(0));

const nameOf = (adaptive: boolean) => (adaptive ? 'adaptive' : 'plain');
