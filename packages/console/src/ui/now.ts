import { useSyncExternalStore } from 'react';
import { serverClock } from '../api/client.ts';
import { coarseClock } from './coarse-clock.ts';

const EVERY_MS = 10_000;
const listeners = new Set<() => void>();
// Less than the timer waits, so that each of its rounds shows a later time.
const nowMs = coarseClock(serverClock.nowMs, EVERY_MS / 2);
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const one of listeners) one();
  }, EVERY_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time, ms since the Unix epoch, exact to ten seconds. One timer serves all components. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, nowMs);
}
