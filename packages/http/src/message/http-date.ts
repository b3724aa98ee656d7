import type { Clock } from '../clock.ts';

/** Returns a function for the value of `Date` (RFC 9110 section 5.6.7), which is computed once a second. */
export function createHttpDate(clock: Clock): () => string {
  let second = -1;
  let text = '';
  return () => {
    const now = Math.floor(clock.nowMs() / 1000);
    if (now !== second) {
      second = now;
      text = new Date(now * 1000).toUTCString();
    }
    return text;
  };
}
