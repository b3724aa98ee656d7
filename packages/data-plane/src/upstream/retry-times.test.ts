import { describe, expect, it } from '@jest/globals';
import type { RecordedAttempt } from '@gateway/shared/records/attempt';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { startTestDataPath } from '../../test/data-path.ts';
import { startFailingUpstream, type UpstreamFailure } from '../../test/failing-upstream.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

/** Times of a record have three decimals; sums of a few of them may differ from a sum that was not rounded. */
const ROUNDING_MS = 0.05;
const BACKOFF_MS = 200;

const retry = (fields: Partial<SnapshotRoute['retry']> = {}): SnapshotRoute['retry'] => ({
  on_statuses: [502, 503, 504],
  per_attempt_timeout_ms: null,
  backoff_ms: 1,
  unsafe_methods: 'never',
  ...fields,
});

const endMs = (attempt: RecordedAttempt) => attempt.started_ms + attempt.duration_ms;

/** From the start of the first attempt to the end of the last one, including back-off. */
function spanMs(attempts: readonly RecordedAttempt[]): number {
  const [first] = attempts;
  const last = attempts.at(-1);
  return first === undefined || last === undefined ? NaN : endMs(last) - first.started_ms;
}

describe('the times of a request that was retried', () => {
  it.each<[UpstreamFailure, Partial<SnapshotRoute['retry']>]>([
    ['reset', { backoff_ms: BACKOFF_MS }],
    ['silence', { backoff_ms: BACKOFF_MS, per_attempt_timeout_ms: 40 }],
  ])(
    'add up if it fails with %s: the attempts and the back-off between them',
    async (failure, fields) => {
      const upstream = opened(await startFailingUpstream(failure));
      const route = { upstreams: [upstream.url], retry_count: 3, retry: retry(fields) };
      const gateway = opened(await startTestDataPath(route));
      const response = await gateway.call('test');
      const { attempts, timing, waits } = await gateway.recordOf(response);
      expect(attempts).toHaveLength(4);
      attempts.forEach((attempt, index) => {
        const before = attempts[index - 1];
        if (before !== undefined) {
          expect(attempt.started_ms).toBeGreaterThanOrEqual(endMs(before) - ROUNDING_MS);
        }
      });
      // The attempts wait for a connection or for the upstream, and back-offs and attempts fill the span.
      const sumMs = attempts.reduce((sum, attempt) => sum + attempt.duration_ms, 0);
      const { connection_ms = 0, retry_ms = 0 } = waits ?? {};
      expect(Math.abs(timing.upstream_ms + connection_ms - sumMs)).toBeLessThan(ROUNDING_MS);
      expect(retry_ms).toBeGreaterThan(0);
      expect(sumMs + retry_ms).toBeLessThan(spanMs(attempts) + ROUNDING_MS);
    },
  );

  it('count the wait for a Retry-After as a wait, neither as time of the upstream nor of the gateway', async () => {
    let arrivals = 0;
    const upstream = opened(
      await startUpstream((_seen, response) => {
        arrivals += 1;
        if (arrivals === 1) response.writeHead(503, { 'retry-after': '2' }).end();
        else response.end('ok');
      }),
    );
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url], retry_count: 1 }));
    const response = await gateway.call('test');
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('x-gateway-latency'))).toBeLessThan(1500);
    const { timing, waits, attempts } = await gateway.recordOf(response);
    expect(spanMs(attempts)).toBeGreaterThanOrEqual(2000);
    expect(waits?.retry_ms).toBeGreaterThanOrEqual(2000);
    expect(timing.upstream_ms).toBeLessThan(1500);
    expect(timing.gateway_ms).toBeLessThan(1500);
  });
});

describe('the deadline', () => {
  it.each<[string, UpstreamFailure, Partial<SnapshotRoute['retry']>]>([
    ['a back-off much longer than the remaining time', '503', { backoff_ms: 60_000 }],
    ['a back-off about as long as the remaining time', '503', { backoff_ms: 40 }],
    ['resets', 'reset', { backoff_ms: 40 }],
    ['attempts that take too long', 'silence', { backoff_ms: 20, per_attempt_timeout_ms: 60 }],
    ['an attempt that could take longer than the remaining time', 'silence', {}],
  ])('is not exceeded by an attempt or a wait: %s', async (_case, failure, fields) => {
    const upstream = opened(await startFailingUpstream(failure));
    const timeoutMs = 200;
    const route = { upstreams: [upstream.url], retry_count: 10, timeout_ms: timeoutMs };
    const gateway = opened(await startTestDataPath({ ...route, retry: retry(fields) }));
    for (let call = 0; call < 4; call += 1) {
      const response = await gateway.call('test');
      const { attempts, timing } = await gateway.recordOf(response);
      for (const attempt of attempts) expect(attempt.started_ms).toBeLessThan(timeoutMs);
      // A timer may be late, because of the resolution of the clock and of other load on the machine.
      expect(timing.total_ms).toBeLessThan(timeoutMs + 5000);
      // The last response, or that of the gateway if a wait ended late.
      const last = { 503: 503, reset: 502, silence: 504 }[failure as '503'];
      expect([last, 504]).toContain(response.status);
    }
  });

  it.each([
    ['seconds', () => '30'],
    ['a date', () => new Date(Date.now() + 30_000).toUTCString()],
  ])('is not waited for because of a Retry-After beyond it, in %s', async (_form, value) => {
    const upstream = opened(
      await startUpstream((_seen, response) => {
        response.writeHead(503, { 'retry-after': value() }).end('later');
      }),
    );
    const route = { upstreams: [upstream.url], retry_count: 5, timeout_ms: 20_000 };
    const gateway = opened(await startTestDataPath(route));
    const response = await gateway.call('test');
    expect(response.status).toBe(503);
    expect(await response.text()).toBe('later');
    const { attempts, timing } = await gateway.recordOf(response);
    expect(attempts).toHaveLength(1);
    expect(timing.total_ms).toBeLessThan(10_000);
  });
});
