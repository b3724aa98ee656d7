import { readdirSync, readFileSync } from 'node:fs';

/** A process that is sampled. */
export interface Watched {
  readonly name: string;
  readonly pid: number;
  /** URL of its metrics; undefined if it is not a process of the gateway. */
  readonly adminUrl: string | undefined;
  /** Label of its metrics, if it is one of several processes behind the port. */
  readonly worker?: string;
}

/** Memory and handles of a process at one moment. */
export interface Sample {
  /** Since the start of the load, ms. */
  readonly atMs: number;
  readonly residentBytes: number;
  /** Memory of JavaScript objects; undefined for a process that is not of the gateway. */
  readonly heapBytes: number | undefined;
  /** Open files and sockets. */
  readonly handles: number;
}

/**
 * Reads memory and handles of a process.
 *
 * @throws if the process does not run
 */
export async function takeSample(watched: Watched, atMs: number): Promise<Sample> {
  const { pid, adminUrl, worker } = watched;
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const residentKb = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN);
  const handles = readdirSync(`/proc/${pid}/fd`).length;
  const heapBytes = adminUrl === undefined ? undefined : await heapOf(adminUrl, worker);
  return { atMs, residentBytes: residentKb * 1024, heapBytes, handles };
}

async function heapOf(adminUrl: string, worker: string | undefined): Promise<number> {
  const text = await metricsText(adminUrl);
  const lines = text.split('\n');
  const own =
    worker === undefined ? lines : lines.filter((one) => one.includes(`worker="${worker}"`));
  return metricOf(own.join('\n'), 'nodejs_heap_size_used_bytes');
}

export async function metricsText(adminUrl: string): Promise<string> {
  const response = await fetch(`${adminUrl}/metrics`, { signal: AbortSignal.timeout(10_000) });
  return response.text();
}

/** The sum of a metric over its labels; 0 if it has no value. */
export function metricOf(text: string, name: string): number {
  const values = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'));
  return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
}
