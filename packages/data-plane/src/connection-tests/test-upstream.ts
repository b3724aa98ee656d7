import type { ConnectedSocket, ConnectFailure } from '@gateway/http/sockets/connect';
import { TLSSocket } from 'node:tls';
import type { Clock } from '@gateway/shared/clock';
import type { TestedUpstream } from '@gateway/shared/connection-tests/test-messages';
import type { CompiledUpstream } from '../routing-table/routing-table.ts';
import type { CheckQuestion, CheckUpstream } from '../upstream/health/check-upstream.ts';
import type { CheckResult } from '../upstream/health/upstream-state.ts';
import type { ObserveConnection } from '../upstream/upstream-connector.ts';

export interface TestUpstreamOptions {
  readonly clock: Clock;
  /** What makes one check. @param observe gets its connection @param limitMs how long that may take to open */
  readonly openCheck: (observe: ObserveConnection, limitMs: number) => OneCheck;
}

/** Makes one health check, to addresses that requests may have, over a connection of its own. */
export interface OneCheck {
  readonly check: CheckUpstream;
  /** Closes the connection. */
  close(): void;
}

/** A connection as it was opened, or why it was not. */
type Seen = Pick<
  TestedUpstream,
  'tls_error' | 'protocol' | 'tls_version' | 'certificate_ends_ms' | 'connect_ms'
>;

const NOTHING_SEEN: Seen = {
  tls_error: null,
  protocol: null,
  tls_version: null,
  certificate_ends_ms: null,
  connect_ms: null,
};

const TIMED_OUT: CheckResult = { verdict: 'bad', detail: 'attempt_timeout' };

/**
 * Makes one health check of an upstream over a connection of its own, and says what it saw of the connection. The check
 * does not count: it changes no health. Never rejects.
 */
export async function testUpstream(
  upstream: CompiledUpstream,
  asked: CheckQuestion,
  timeoutMs: number,
  { clock, openCheck }: TestUpstreamOptions,
): Promise<TestedUpstream> {
  const startedMs = clock.monotonicMs();
  let seen = NOTHING_SEEN;
  const one = openCheck((connected, failure) => {
    seen =
      connected === undefined
        ? { ...NOTHING_SEEN, tls_error: tlsError(failure) }
        : seenOf(connected, clock.monotonicMs() - startedMs);
  }, timeoutMs);
  const checking = one.check(upstream, asked, timeoutMs);
  const { verdict, detail } = await within(checking, timeoutMs, clock);
  one.close();
  const hasAnswered = verdict === 'bad' && isOfResponse(detail);
  return {
    id: upstream.id,
    outcome: verdict === 'good' ? 'healthy' : hasAnswered ? 'unhealthy' : 'failed',
    detail,
    ...seen,
    duration_ms: rounded(clock.monotonicMs() - startedMs),
  };
}

/** The check waits for each part of a body anew; the test as a whole does not. */
async function within(
  checking: Promise<CheckResult>,
  timeoutMs: number,
  clock: Clock,
): Promise<CheckResult> {
  const { promise, resolve } = Promise.withResolvers<CheckResult>();
  // The check itself ends first if there is no response, and knows why.
  const timer = clock.setTimer(timeoutMs + MARGIN_MS, () => resolve(TIMED_OUT));
  const result = await Promise.race([checking, promise]);
  timer.cancel();
  return result;
}

const MARGIN_MS = 200;

/** Whether a check failed with what a server answered. */
function isOfResponse(detail: string): boolean {
  return detail.startsWith('status_') || /^(?:grpc_|no_grpc_response$)/.test(detail);
}

function seenOf({ socket, protocol }: ConnectedSocket, connectMs: number): Seen {
  const opened = { tls_error: null, protocol, connect_ms: rounded(connectMs) };
  if (!(socket instanceof TLSSocket)) {
    return { ...opened, tls_version: null, certificate_ends_ms: null };
  }
  const endsMs = Date.parse(socket.getPeerCertificate().valid_to);
  return {
    ...opened,
    tls_version: socket.getProtocol(),
    certificate_ends_ms: Number.isNaN(endsMs) ? null : endsMs,
  };
}

/** The code of a failed handshake: its text could hold names of the certificate. */
function tlsError(failure: ConnectFailure): string | null {
  if (failure.phase !== 'tls' || failure.code === undefined) return null;
  return /^\w{1,64}$/.test(failure.code) ? failure.code : null;
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
