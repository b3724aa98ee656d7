import { readFile } from 'node:fs/promises';
import type { Pauses } from './pause-monitor.ts';

/** A time in which the load counted, ms since 1970. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The longest pauses of a run. */
export interface Longest {
  readonly delayMs: number;
  /** Without the time in which the process waited for its core in the same second. */
  readonly ownDelayMs: number;
  readonly collectionMs: number;
}

const SECOND_MS = 1000;

/** What the data plane reported of the seconds that lie within the spans. */
export async function readPauses(file: string, spans: readonly Span[]): Promise<Pauses[]> {
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  const all = lines.map((line) => JSON.parse(line) as Pauses);
  return pausesWithin(all, spans);
}

export function pausesWithin(all: readonly Pauses[], spans: readonly Span[]): Pauses[] {
  return all.filter(({ atMs }) =>
    spans.some(({ fromMs, toMs }) => atMs - SECOND_MS >= fromMs && atMs <= toMs),
  );
}

/** @throws if there are no seconds */
export function longestOf(within: readonly Pauses[]): Longest {
  if (within.length === 0) throw new Error('the data plane reported no pauses');
  const longest = (of: (pauses: Pauses) => number) => Math.max(...within.map(of));
  return {
    delayMs: longest(({ delayMs }) => delayMs),
    ownDelayMs: longest(({ delayMs, waitedMs }) => Math.max(0, delayMs - waitedMs)),
    collectionMs: longest(({ collectionMs }) => collectionMs),
  };
}
