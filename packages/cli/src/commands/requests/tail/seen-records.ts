import type { RequestRecord } from '../columns.ts';

interface Seen {
  readonly receivedMs: number;
  readonly durationMs: number;
}

/** Which records were seen already, as long as a poll can find them again. */
export class SeenRecords {
  readonly #seen = new Map<string, Seen>();

  /** Returns the records that were not seen before, the oldest first. */
  add(records: readonly RequestRecord[]): RequestRecord[] {
    const unseen: RequestRecord[] = [];
    for (const record of records) {
      const { id, received_at, timing } = record;
      if (this.#seen.has(id)) continue;
      this.#seen.set(id, { receivedMs: Date.parse(received_at), durationMs: timing.total_ms });
      unseen.push(record);
    }
    return unseen.sort(byTime);
  }

  /** Forgets the records that later polls do not find: they began earlier than these times. */
  forget(polls: { recentSinceMs: number; longSinceMs: number; longMs: number }): void {
    for (const [id, { receivedMs, durationMs }] of this.#seen) {
      const sinceMs = durationMs >= polls.longMs ? polls.longSinceMs : polls.recentSinceMs;
      if (receivedMs < sinceMs) this.#seen.delete(id);
    }
  }
}

function byTime(a: RequestRecord, b: RequestRecord): number {
  return a.received_at < b.received_at ? -1 : a.received_at > b.received_at ? 1 : 0;
}
