import type { RequestRecord } from '../columns.ts';
import { SeenRecords } from './seen-records.ts';

/** How long after a poll the next one begins, at least. */
const POLL_MS = 500;
/** A poll also looks back, because a record comes after the end of its request, but is listed at its begin. */
const LOOK_BACK_MS = 12_000;
/** Requests that take longer than this come later than a poll looks back, and are looked for on their own. */
const LONG_MS = 4000;
/** How far back a poll looks for long requests. */
export const LONG_LOOK_BACK_MS = 15 * 60_000;
/** How long after an outage records of that time may still come. */
const CATCH_UP_MS = 60_000;

/** Records that match the filters of the command. */
export interface RecordsRead {
  readonly records: readonly RequestRecord[];
  /** The time of the server, ms since the Unix epoch: its clock, not that of this machine, orders the records. */
  readonly serverMs: number;
}

export interface FollowParts {
  /** Reads all records that began at this time or later, and took at least this long. */
  read(sinceMs: number, minDurationMs: number): Promise<RecordsRead>;
  pause(delayMs: number): Promise<void>;
  /** Called when a poll failed. Throws the error if it is not worth another try. @returns how long to wait at least, ms */
  failed(error: unknown): number;
  /** Called when a poll succeeds after one that failed. */
  recovered(): void;
  nowMs(): number;
}

/** The requests whose records come while it runs: each once, in the order of their begin within a poll. */
export class RecordFollower {
  readonly #parts: FollowParts;
  readonly #seen = new SeenRecords();
  /** What began before was seen at the last poll, except for late records. */
  #positionMs: number;

  /** @param serverMs the time of the server at the begin */
  constructor(parts: FollowParts, serverMs: number) {
    this.#parts = parts;
    this.#positionMs = serverMs;
  }

  /** Marks all records that exist as seen. */
  async skipExisting(): Promise<void> {
    await this.#poll(this.#positionMs);
  }

  /** Marks records as seen, and returns those that were not. */
  unseen(records: readonly RequestRecord[]): RequestRecord[] {
    return this.#seen.add(records);
  }

  /** The new records of each poll. It ends with an error only. */
  async *follow(): AsyncGenerator<RequestRecord[], never, undefined> {
    let outage: { readonly fromMs: number; endMs: number } | undefined;
    for (;;) {
      const startedMs = this.#parts.nowMs();
      const fromMs = outage?.fromMs ?? this.#positionMs;
      let waitMs = POLL_MS;
      try {
        const found = await this.#poll(fromMs);
        if (outage?.endMs === Infinity) {
          this.#parts.recovered();
          outage.endMs = this.#positionMs + CATCH_UP_MS;
        }
        if (outage !== undefined && this.#positionMs >= outage.endMs) outage = undefined;
        if (found.length > 0) yield found;
      } catch (error) {
        waitMs = Math.max(POLL_MS, this.#parts.failed(error));
        outage = { fromMs, endMs: Infinity };
      }
      // A gateway whose searches are slow is asked less often.
      await this.#parts.pause(Math.max(waitMs, this.#parts.nowMs() - startedMs));
    }
  }

  async #poll(fromMs: number): Promise<RequestRecord[]> {
    const recentSinceMs = fromMs - LOOK_BACK_MS;
    const longSinceMs = fromMs - LONG_LOOK_BACK_MS;
    const [recent, long] = await Promise.all([
      this.#parts.read(recentSinceMs, 0),
      this.#parts.read(longSinceMs, LONG_MS),
    ]);
    const found = this.#seen.add([...recent.records, ...long.records]);
    this.#seen.forget({ recentSinceMs, longSinceMs, longMs: LONG_MS });
    this.#positionMs = Math.max(this.#positionMs, recent.serverMs);
    return found;
  }
}
