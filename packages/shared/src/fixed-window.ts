/**
 * A counter of a fixed window that is aligned to the clock: window `n` of length `w` is [n·w, (n+1)·w) milliseconds since the
 * Unix epoch, so that every node uses the same windows.
 */
export interface FixedWindow {
  /** Whether the request was counted; `remaining` is never negative. */
  readonly granted: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  readonly resetSeconds: number;
}

interface Counter {
  window: number;
  used: number;
}

/**
 * Counters by key, at most `maxKeys`. Beyond that the oldest counter is dropped, which forgets its count; `dropped` is the number
 * of dropped counters.
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

  /** Counts one in the window of the key at this time, if the limit is not reached. */
  take(key: string, limit: number, windowMs: number, nowMs: number): FixedWindow {
    const counter = this.#counterAt(key, windowMs, nowMs);
    const granted = counter.used < limit;
    if (granted) counter.used += 1;
    return view(granted, counter.used, limit, windowMs, nowMs);
  }

  /** The remaining count of the key's window at this time, without counting. */
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
