import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { recordIds } from '@gateway/testing/record-ids';
import { takeSample, type Watched } from './process-samples.ts';

const RECORDS_MS = 90_000;
const RECORDS_EVERY_MS = 2000;
const IDLE_MS = 60_000;
const IDLE_EVERY_MS = 1000;
/** Handles that a process may have in addition after the load: connections to NATS and Postgres. */
const IDLE_MARGIN = 5;
const MAX_SHOWN_LINES = 5;

export interface FoundRecords {
  readonly stored: number;
  /** Ids that a caller or an upstream saw but that have no record. */
  readonly missing: readonly string[];
  readonly storedTwice: number;
}

/** Reads records until every id has one, or the deadline passes. */
export async function findRecords(
  databaseUrl: string,
  ids: ReadonlySet<string>,
): Promise<FoundRecords> {
  for (const endMs = performance.now() + RECORDS_MS; ;) {
    const all = await recordIds(databaseUrl);
    const stored = new Set(all);
    const missing = [...ids].filter((id) => !stored.has(id));
    if (missing.length === 0 || performance.now() > endMs) {
      return { stored: stored.size, missing, storedTwice: all.length - stored.size };
    }
    await delay(RECORDS_EVERY_MS);
  }
}

/** Waits until a process has no more handles than before the load; returns the last number. */
export async function handlesAtRest(watched: Watched, before: number): Promise<number> {
  for (const endMs = performance.now() + IDLE_MS; ;) {
    const { handles } = await takeSample(watched, 0);
    if (handles <= before + IDLE_MARGIN || performance.now() > endMs) return handles;
    await delay(IDLE_EVERY_MS);
  }
}

/** Whether this number of handles after the load means that none leaked. */
export function areHandlesBack(before: number, after: number): boolean {
  return after <= before + IDLE_MARGIN;
}

/** The number of lines of level error or fatal in a log, and the first of them. */
export async function errorLines(
  file: string,
): Promise<{ readonly count: number; readonly first: readonly string[] }> {
  const first: string[] = [];
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (!/^\{"severity_text":"(?:ERROR|FATAL)"/.test(line)) continue;
    count += 1;
    if (first.length < MAX_SHOWN_LINES) first.push(line);
  }
  return { count, first };
}
