import type { Clock, Timer } from '@gateway/shared/clock';

/** Something that is checked at intervals. */
export interface CheckedItem {
  /** Runs a check. */
  check(): Promise<void>;
  /** The time from the start of the last check to the start of the next one, ms. */
  nextDelayMs(): number;
}

export interface CheckScheduleOptions {
  readonly clock: Clock;
  readonly maxParallel: number;
  /**
   * A check has thrown, by a defect of this data plane. It is made again, and the others are not affected.
   *
   * @param isFirst whether the check of the item before has not
   */
  readonly onFailed: (error: unknown, isFirst: boolean) => void;
}

/** After a check that has thrown the next one follows no sooner, ms. */
const FAILED_GAP_MS = 5000;

interface Entry {
  readonly item: CheckedItem;
  timer: Timer | undefined;
  /** By the monotonic clock. */
  dueMs: number;
  startedMs: number;
  state: 'scheduled' | 'queued' | 'running' | 'removed';
  /** Whether the last check has thrown. */
  hasFailed: boolean;
}

/** Runs the checks of each item one after the other, and at most `maxParallel` checks at one time. */
export class CheckSchedule {
  readonly #options: CheckScheduleOptions;
  readonly #entries = new Map<CheckedItem, Entry>();
  #queue: Entry[] = [];
  #running = 0;

  constructor(options: CheckScheduleOptions) {
    this.#options = options;
  }

  /** The number of checks that are due and wait for others to end. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Adds an item; its first check is due after `firstDelayMs`. */
  add(item: CheckedItem, firstDelayMs: number): void {
    const entry: Entry = {
      item,
      timer: undefined,
      dueMs: Infinity,
      startedMs: -Infinity,
      state: 'scheduled',
      hasFailed: false,
    };
    this.#entries.set(item, entry);
    this.#plan(entry, this.#options.clock.monotonicMs() + firstDelayMs);
  }

  /** Moves the next check of the item forward: to `minGapMs` after the start of the last one, or to now. */
  hurry(item: CheckedItem, minGapMs: number): void {
    const entry = this.#entries.get(item);
    if (entry?.state !== 'scheduled') return;
    const earliestMs = Math.max(this.#options.clock.monotonicMs(), entry.startedMs + minGapMs);
    if (earliestMs < entry.dueMs) this.#plan(entry, earliestMs);
  }

  /** Removes an item. A check that is running is not cancelled. */
  remove(item: CheckedItem): void {
    const entry = this.#entries.get(item);
    if (entry === undefined) return;
    this.#entries.delete(item);
    entry.timer?.cancel();
    if (entry.state === 'queued') this.#queue = this.#queue.filter((other) => other !== entry);
    entry.state = 'removed';
  }

  /** Removes all items, so that no further check starts. */
  stop(): void {
    for (const item of [...this.#entries.keys()]) this.remove(item);
  }

  #plan(entry: Entry, dueMs: number): void {
    const { clock } = this.#options;
    entry.timer?.cancel();
    entry.state = 'scheduled';
    entry.dueMs = dueMs;
    entry.timer = clock.setTimer(Math.max(0, dueMs - clock.monotonicMs()), () => {
      entry.state = 'queued';
      this.#queue.push(entry);
      this.#runNext();
    });
  }

  #runNext(): void {
    while (this.#running < this.#options.maxParallel) {
      const entry = this.#queue.shift();
      if (entry === undefined) return;
      this.#running += 1;
      entry.state = 'running';
      entry.startedMs = this.#options.clock.monotonicMs();
      void this.#run(entry).then((delayMs) => {
        this.#running -= 1;
        // The compiler does not know that it may have been removed meanwhile.
        const { state } = entry as { state: Entry['state'] };
        if (state !== 'removed') this.#plan(entry, entry.startedMs + delayMs);
        this.#runNext();
      });
    }
  }

  /** Runs a check and returns the time from its start to the start of the next one, ms. Never rejects. */
  async #run(entry: Entry): Promise<number> {
    const { item } = entry;
    try {
      await item.check();
      entry.hasFailed = false;
      return item.nextDelayMs();
    } catch (error) {
      this.#options.onFailed(error, !entry.hasFailed);
      entry.hasFailed = true;
      return FAILED_GAP_MS;
    }
  }
}
