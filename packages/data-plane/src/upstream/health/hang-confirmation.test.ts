import { createServer } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { listen } from '@gateway/shared/test/upstream';
import { startTestDataPath } from '../../../test/data-path.ts';

const CALLERS = 4;
/** Of the route. */
const TIMEOUT_MS = 1000;
/** Bad checks that make an upstream unhealthy. */
const THRESHOLD = 3;

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
    const { url, state } = opened(await startUpstream());
    const gateway = await startTestDataPath(
      { upstreams: [url], retry_count: 0, timeout_ms: TIMEOUT_MS },
      { clock, healthClock: clock, healthChecks: true },
    );
    opened({
      // A stop takes time of the clock.
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
    /** Lets as little time pass as needed until the next check has been received. */
    const nextCheck = async () => {
      const before = state.checks;
      await eventually(
        () => {
          if (state.checks === before) clock.advance(1);
          expect(state.checks).toBe(before + 1);
        },
        { intervalMs: 2 },
      );
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
      clock.advance(Math.floor(800 / THRESHOLD));
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
