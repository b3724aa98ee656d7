import { readdirSync, readFileSync } from 'node:fs';

/** A process that is watched. */
export interface Watched {
  readonly name: string;
  readonly pid: number;
  /** Where its metrics are; undefined where it is none of the gateway's own. */
  readonly adminUrl: string | undefined;
  /** Its own metrics there, where it is one of several processes behind the port. */
  readonly worker?: string;
}

/** What a process held at one moment. */
export interface Sample {
  /** From the beginning of the load, ms. */
  readonly atMs: number;
  readonly residentBytes: number;
  /** Used by JavaScript objects; undefined for a process that is not the gateway's own. */
  readonly heapBytes: number | undefined;
  /** Files and sockets. */
  readonly handles: number;
}

/**
 * Reads what a process holds now.
 *
 * @throws where it does not run any more
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

/** The sum of a metric over its labels; 0 where it has no value. */
export function metricOf(text: string, name: string): number {
  const values = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'));
  return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
}
