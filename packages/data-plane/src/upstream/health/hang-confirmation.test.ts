import { createServer } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import type { Clock } from '@gateway/shared/clock';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { TEST_HEALTH_CHECK } from '@gateway/shared/test/snapshot';
import { listen } from '@gateway/shared/test/upstream';
import { startTestDataPath } from '../../../test/data-path.ts';
import { hangCheckMs } from './check-pace.ts';

const CALLERS = 4;
/** Of the route. */
const TIMEOUT_MS = 1000;
const { timeout_ms: timeoutMs, unhealthy_threshold: THRESHOLD } = TEST_HEALTH_CHECK;
/** Of a check that is to confirm the hang: the good check before takes no time of the clock. */
const CHECK_TIMEOUT_MS = hangCheckMs({ timeoutMs, unhealthyThreshold: THRESHOLD }, 0);

/** An upstream that accepts connections and answers nothing once it hangs. */
async function startUpstream() {
  const state = { hangs: false, requests: 0, checks: 0 };
  const server = createServer((request, response) => {
    if (request.headers['user-agent'] === 'gateway-health-check') state.checks += 1;
    else state.requests += 1;
    if (!state.hangs) response.end('ok');
  });
  const { url, close } = await listen(server);
  return { url, close, state };
}

describe('a hang', () => {
  const opened = closeAfterEach();

  // Time passes only when the test lets it, so that a busy machine cannot take the place of a hang.
  it('is confirmed before a caller sees a second timeout', async () => {
    const clock = manualClock();
    /** When the last check that was planned is due. */
    let dueMs = 0;
    const healthClock: Clock = {
      ...clock,
      setTimer(delayMs, callback) {
        dueMs = clock.monotonicMs() + delayMs;
        return clock.setTimer(delayMs, callback);
      },
    };
    const { url, state } = opened(await startUpstream());
    const gateway = await startTestDataPath(
      { upstreams: [url], retry_count: 0, timeout_ms: TIMEOUT_MS },
      { clock, healthClock, healthChecks: true },
    );
    opened({
      // Stopping waits for timers of the manual clock.
      async stop() {
        let isOver = false;
        const stopping = gateway.stop().finally(() => (isOver = true));
        await eventually(() => {
          clock.advance(100);
          expect(isOver).toBe(true);
        });
        await stopping;
      },
    });
    const reached = (metric: string) =>
      eventually(async () => expect(await gateway.registry.metrics()).toContain(`\n${metric}\n`));
    /** Lets time pass until the next check is due, however long it takes to be received. */
    const nextCheck = async () => {
      const before = state.checks;
      await eventually(() => {
        if (state.checks === before) clock.advance(Math.max(0, dueMs - clock.monotonicMs()));
        expect(state.checks).toBe(before + 1);
      });
    };
    await nextCheck();
    await reached('gateway_upstreams{health="healthy"} 1');

    state.hangs = true;
    const statuses: number[] = [];
    const callers = Array.from({ length: CALLERS }, async () => {
      for (let calls = 0; calls < 2; calls += 1) statuses.push((await gateway.call('test')).status);
    });
    await eventually(() => expect(state.requests).toBe(CALLERS));
    clock.advance(TIMEOUT_MS);
    const suspectedMs = clock.monotonicMs();
    await eventually(() => expect(statuses).toEqual(Array(CALLERS).fill(504)));
    await eventually(() => expect(state.requests).toBe(2 * CALLERS));

    for (let bad = 1; bad <= THRESHOLD; bad += 1) {
      await nextCheck();
      clock.advance(CHECK_TIMEOUT_MS);
      await reached(`gateway_upstream_checks_total{result="bad"} ${bad}`);
    }
    await reached('gateway_upstreams{health="unhealthy"} 1');
    expect(clock.monotonicMs() - suspectedMs).toBeLessThan(TIMEOUT_MS);
    expect(statuses).toHaveLength(CALLERS);
    clock.advance(TIMEOUT_MS);
    await Promise.all(callers);
    expect(statuses).toEqual(Array(2 * CALLERS).fill(504));
  });
});
