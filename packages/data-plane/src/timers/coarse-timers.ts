import type { Clock, Timer } from '@gateway/shared/clock';

/** A timer in a ring of its slot. A slot is itself the head of its ring. */
class Entry implements Timer {
  before: Entry = this;
  after: Entry = this;
  readonly callback: () => void;
  readonly #cancelled: () => void;

  constructor(callback: () => void, cancelled: () => void) {
    this.callback = callback;
    this.#cancelled = cancelled;
  }

  cancel(): void {
    if (this.unlink()) this.#cancelled();
  }

  /** For a slot: whether its ring contains a timer. */
  get inUse(): boolean {
    return this.after !== this;
  }

  /** Whether it was in a ring. */
  unlink(): boolean {
    if (this.after === this) return false;
    this.before.after = this.after;
    this.after.before = this.before;
    this.before = this;
    this.after = this;
    return true;
  }
}

const NOTHING = () => undefined;

/** Runs it when what has arrived was read: in Node the poll for I/O stands between timers and immediates. */
function afterReading(run: () => void): Timer {
  const immediate = setImmediate(run);
  return { cancel: () => clearImmediate(immediate) };
}

/** How many slots are searched for the next timer. If they are empty, the search continues behind them later. */
const LOOK_AHEAD_TICKS = 32;
/** Node fires a timer of more than 24 days at once. */
const LONGEST_SLEEP_MS = 60_000;
/**
 * How many timers run before other events have a turn. A thousand requests to a hung service that time out together take
 * a quarter of a second, in which no other request would be served.
 */
const MAX_AT_ONCE = 8;

/**
 * The same clock with timers that are cheap to set and to cancel, because a data plane sets several for each request and
 * cancels nearly all. They fire up to `tickMs` late, never early; if many are due at once, a few in each turn of the event
 * loop. What has arrived is read before: after a pause of this process, no peer is blamed for a silence that it has ended.
 *
 * All of them share one timer of the clock, which fires only when one of them is due: on a process that is idle between two
 * requests, each wake-up costs more than the work done in it.
 *
 * Source: Varghese and Lauck, "Hashed and Hierarchical Timing Wheels" (1987), scheme 5, with a map for
 * the wheel.
 */
export function withCoarseTimers(clock: Clock, tickMs: number, later = afterReading): Clock {
  const slots = new Map<number, Entry>();
  let pending = 0;
  let running: Timer | undefined;
  /** When `running` fires. */
  let wakeTick = 0;
  /** All slots before this one are empty. */
  let nextTick = 0;

  const cancelled = () => {
    pending -= 1;
  };

  function wake(): void {
    running = later(fire);
  }

  /** If a timer throws, the others run at the next wake-up, which is immediate. */
  function fire(): void {
    // Timers set meanwhile are found after all that are due have run.
    wakeTick = 0;
    try {
      runDue(Math.floor(clock.monotonicMs() / tickMs));
    } finally {
      if (pending > 0) wakeAt(tickOfNext());
      else {
        running = undefined;
        slots.clear();
      }
    }
  }

  function runDue(now: number): void {
    let ran = 0;
    for (; nextTick <= now; nextTick += 1) {
      const slot = slots.get(nextTick);
      if (slot === undefined) continue;
      for (let entry = slot.after; entry !== slot; entry = slot.after) {
        if (ran === MAX_AT_ONCE) return;
        ran += 1;
        entry.unlink();
        pending -= 1;
        entry.callback();
      }
      slots.delete(nextTick);
    }
  }

  /** The tick of the next timer, or one before it. */
  function tickOfNext(): number {
    const end = nextTick + LOOK_AHEAD_TICKS;
    let tick = nextTick;
    while (tick < end && slots.get(tick)?.inUse !== true) tick += 1;
    return tick;
  }

  function wakeAt(tick: number): void {
    running?.cancel();
    const nowMs = clock.monotonicMs();
    wakeTick = Math.min(tick, Math.floor((nowMs + LONGEST_SLEEP_MS) / tickMs));
    // Node warns about a negative delay, which a timer that is already due would have.
    running = clock.setTimer(Math.max(0, Math.ceil(wakeTick * tickMs - nowMs)), wake);
  }

  return {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    setTimer(delayMs, callback) {
      const nowMs = clock.monotonicMs();
      const tick = Math.floor((nowMs + Math.max(0, delayMs)) / tickMs) + 1;
      const entry = new Entry(callback, cancelled);
      let slot = slots.get(tick);
      if (slot === undefined) {
        slot = new Entry(NOTHING, NOTHING);
        slots.set(tick, slot);
      }
      entry.before = slot.before;
      entry.after = slot;
      slot.before.after = entry;
      slot.before = entry;
      pending += 1;
      if (running === undefined) nextTick = Math.floor(nowMs / tickMs);
      if (running === undefined || tick < wakeTick) wakeAt(tick);
      return entry;
    },
  };
}
