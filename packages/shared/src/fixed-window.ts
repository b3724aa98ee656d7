/**
 * Counters of fixed windows that are aligned to the clock: window `n` of length `w` is
 * [n·w, (n+1)·w) milliseconds since the Unix epoch, so that every node cuts time alike.
 */
export interface FixedWindow {
  /** Whether one more was taken; `remaining` is never negative. */
  readonly granted: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds to the end of the window, at least 1. */
  readonly resetSeconds: number;
}

interface Counter {
  window: number;
  used: number;
}

/**
 * A bounded set of counters, one for each key. Past `maxKeys` the one that was made first goes;
 * `dropped` counts them, as a dropped counter forgets what was used.
 */
export class FixedWindowCounters {
  #counters = new Map<string, Counter>();
  readonly #maxKeys: number;
  #dropped = 0;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  get dropped(): number {
    return this.#dropped;
  }

  get size(): number {
    return this.#counters.size;
  }

  /** Takes one from the key's window at this time, if any is left. */
  take(key: string, limit: number, windowMs: number, nowMs: number): FixedWindow {
    const counter = this.#counterAt(key, windowMs, nowMs);
    const granted = counter.used < limit;
    if (granted) counter.used += 1;
    return view(granted, counter.used, limit, windowMs, nowMs);
  }

  /** What is left of the key's window at this time, without taking any. */
  peek(key: string, limit: number, windowMs: number, nowMs: number): FixedWindow {
    const counter = this.#counters.get(key);
    const window = Math.floor(nowMs / windowMs);
    const used = counter?.window === window ? counter.used : 0;
    return view(used < limit, used, limit, windowMs, nowMs);
  }

  #counterAt(key: string, windowMs: number, nowMs: number): Counter {
    const window = Math.floor(nowMs / windowMs);
    let counter = this.#counters.get(key);
    if (counter === undefined) {
      if (this.#counters.size >= this.#maxKeys) this.#makeRoom();
      counter = { window, used: 0 };
      this.#counters.set(key, counter);
    } else if (counter.window !== window) {
      counter.window = window;
      counter.used = 0;
    }
    return counter;
  }

  #makeRoom(): void {
    const oldest = this.#counters.keys().next();
    if (oldest.done === true) return;
    this.#counters.delete(oldest.value);
    this.#dropped += 1;
  }
}

function view(
  granted: boolean,
  used: number,
  limit: number,
  windowMs: number,
  nowMs: number,
): FixedWindow {
  const leftMs = windowMs - (nowMs % windowMs);
  return {
    granted,
    limit,
    remaining: Math.max(0, limit - used),
    resetSeconds: Math.max(1, Math.ceil(leftMs / 1000)),
  };
}
