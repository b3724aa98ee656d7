import type { Clock, Timer } from './clock.ts';

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

  /** Of a slot: whether a timer is in its ring. */
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

/** So many slots are looked through for the next timer; where they hold none, it is looked for again behind them. */
const LOOK_AHEAD_TICKS = 32;
/** A timer of Node that is set for more than 24 days fires at once. */
const LONGEST_SLEEP_MS = 60_000;

/**
 * The same clock with timers that are cheap to set and to cancel, as a data plane sets some for each
 * request and cancels nearly all. They fire up to `tickMs` late, never early. One timer of the clock
 * serves them all, and only while there are any; it fires when one of them is due, as on a process that
 * rests between two requests each wake costs more than what is done in it.
 *
 * Source: Varghese and Lauck, "Hashed and Hierarchical Timing Wheels" (1987), scheme 5, with a map for
 * the wheel.
 */
export function withCoarseTimers(clock: Clock, tickMs: number): Clock {
  const slots = new Map<number, Entry>();
  let pending = 0;
  let running: Timer | undefined;
  /** When `running` fires. */
  let wakeTick = 0;
  /** No slot before this one has timers. */
  let nextTick = 0;

  const cancelled = () => {
    pending -= 1;
  };

  /** Where a timer throws, the others are run by the next wake, at once. */
  function wake(): void {
    // What is set meanwhile is found when all that is due has run.
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
    for (; nextTick <= now; nextTick += 1) {
      const slot = slots.get(nextTick);
      if (slot === undefined) continue;
      for (let entry = slot.after; entry !== slot; entry = slot.after) {
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
    // What is due already would be a time before now, of which Node warns.
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
