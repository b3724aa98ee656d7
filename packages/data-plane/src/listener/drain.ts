import { pause } from '@gateway/shared/clock';
import type { ConnectionOutcomes } from './connection-outcomes.ts';
import type { Engines } from './engines.ts';
import type { ServerOptions } from './options.ts';

/** How long requests may take to finish after their connection was closed. */
const END_MS = 1_000;
/** The part of the drain in which clients of HTTP/2 are not asked to open no more streams. */
const BEFORE_GOAWAY = 1 / 2;

interface Drained {
  readonly engines: Engines;
  readonly outcomes: ConnectionOutcomes;
}

interface DrainTimes {
  /** How long every connection stays open, because the next request may already be on its way. */
  readonly graceMs: number;
  /** How long all of it may take. */
  readonly timeoutMs: number;
}

/**
 * Finishes requests and closes connections, of a server that accepts no more of them.
 *
 * After the grace each connection closes when it has no request, also one that has sent nothing. A client that always
 * has requests in progress on an HTTP/2 connection is asked to use another one with GOAWAY, in the middle of the time
 * that is left: some clients fail everything in flight at the first GOAWAY, so the later it is sent, the fewer requests
 * fail; and what is in flight then still has half of the time.
 */
export async function drain(
  { engines, outcomes }: Drained,
  { clock, inFlight }: ServerOptions,
  { graceMs, timeoutMs }: DrainTimes,
): Promise<void> {
  const { http1, http2 } = engines;
  const startedMs = clock.monotonicMs();
  await pause(clock, Math.min(graceMs, timeoutMs));
  outcomes.isDraining = true;
  engines.drain();
  const leftMs = Math.max(0, timeoutMs - (clock.monotonicMs() - startedMs));
  const goAway = clock.setTimer(leftMs * BEFORE_GOAWAY, () => {
    http2.goAway();
  });
  const timeout = new AbortController();
  // A caller that is still sending a refused body could not read its response after a reset.
  const closed = inFlight.idle().then(() => {
    // Also connections whose handshake ended after the grace.
    engines.drain();
    return Promise.all([http1.close(), http2.closed()]);
  });
  await Promise.race([closed, pause(clock, leftMs, timeout.signal)]);
  timeout.abort();
  goAway.cancel();
  http1.destroy();
  http2.destroy();
  // Requests that were ended by this still get their records.
  const ended = new AbortController();
  await Promise.race([inFlight.idle(), pause(clock, END_MS, ended.signal)]);
  ended.abort();
}
