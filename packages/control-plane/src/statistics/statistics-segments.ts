/** The lengths of the buckets that are kept, s, the longest first. */
export const RESOLUTIONS = [86_400, 21_600, 3600, 900, 60] as const;

export type Resolution = (typeof RESOLUTIONS)[number];

/** A part of a period, with the resolution in which it is read. */
export interface Segment {
  readonly resolution: Resolution;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The start of the bucket, ms since the Unix epoch. Buckets are aligned to the clock, in UTC. */
export function bucketStart(ms: number, seconds: number): number {
  return Math.floor(ms / (seconds * 1000)) * seconds * 1000;
}

/**
 * Splits a period of whole minutes into segments of whole buckets, so that few rows are read: whole days, where a step
 * has whole days, and shorter buckets at the ends.
 *
 * @param stepSeconds the length of a step, aligned to the clock; undefined: the period is one step
 */
export function segmentsOf(
  fromMs: number,
  toMs: number,
  stepSeconds: number | undefined,
): readonly Segment[] {
  const usable = RESOLUTIONS.filter(
    (seconds) => stepSeconds === undefined || stepSeconds % seconds === 0,
  );
  return split(fromMs, toMs, usable);
}

function split(fromMs: number, toMs: number, usable: readonly Resolution[]): Segment[] {
  const [resolution, ...finer] = usable;
  if (resolution === undefined || fromMs >= toMs) return [];
  const bucketMs = resolution * 1000;
  const startMs = Math.ceil(fromMs / bucketMs) * bucketMs;
  const endMs = Math.floor(toMs / bucketMs) * bucketMs;
  if (startMs >= endMs) return split(fromMs, toMs, finer);
  return [
    ...split(fromMs, startMs, finer),
    { resolution, fromMs: startMs, toMs: endMs },
    ...split(endMs, toMs, finer),
  ];
}
