import { useSyncExternalStore } from 'react';
import { serverClock } from '../api/client.ts';

const EVERY_MS = 10_000;
const listeners = new Set<() => void>();
let nowMs = serverClock.nowMs();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    nowMs = serverClock.nowMs();
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
  return useSyncExternalStore(subscribe, () => nowMs);
}
