import { backOffMs } from '@gateway/shared/clock';
import type { ArrivalSignal } from './arrival-signal.ts';
import type { ReadSnapshotObject } from './snapshot-objects.ts';

export interface DownloadOptions {
  readonly read: ReadSnapshotObject;
  readonly arrivals: ArrivalSignal;
  readonly signal: AbortSignal;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
  /** @param failures failed attempts before this one */
  readonly onFailure: (failures: number, cause: unknown) => void;
}

const BACK_OFF = { firstMs: 100, maxMs: 5000 };

/**
 * Downloads the object of a snapshot. A failed attempt is repeated with back-off until another message
 * arrives, which may name a newer snapshot.
 *
 * @returns undefined if the download failed and another message arrived, or if the signal aborted
 */
export async function downloadSnapshot(
  object: string,
  { read, arrivals, signal, random, onFailure }: DownloadOptions,
): Promise<Uint8Array | undefined> {
  const isOver = () => signal.aborted;
  const before = arrivals.count;
  for (let failures = 0; !isOver(); failures += 1) {
    try {
      return await read(object, signal);
    } catch (cause) {
      if (isOver()) return undefined;
      onFailure(failures, cause);
    }
    if (arrivals.count > before) return undefined;
    const delayMs = backOffMs(failures + 1, BACK_OFF, random());
    if (!(await arrivals.nothingWithin(delayMs))) return undefined;
  }
  return undefined;
}
