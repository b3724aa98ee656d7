import { describe, expect, it } from '@jest/globals';
import { ServerClock } from './server-clock.ts';

const SERVER_AHEAD_MS = 7_000_000;

/** A local clock that can be set, and the clock of the ledger, which cannot. */
function openClocks() {
  const local = { wallMs: 1_800_000_000_000, elapsedMs: 0, read: 0 };
  const startedAtMs = local.wallMs;
  const trueMs = () => startedAtMs + local.elapsedMs + SERVER_AHEAD_MS;
  const options = {
    serverTimeOffsetMs: () => {
      local.read += 1;
      return trueMs() - local.wallMs;
    },
    serverTimeErrorMs: () => 3,
  };
  const clock = new ServerClock(options, { monotonicMs: () => local.elapsedMs });
  const pass = (ms: number) => {
    local.wallMs += ms;
    local.elapsedMs += ms;
  };
  const errorMs = () => clock.serverMs(local.wallMs) - trueMs();
  return { local, pass, errorMs };
}

describe('the clock of the ledger', () => {
  it.each([-10_000, -150, -20, 20, 150, 10_000])(
    'does not change if the local one is changed by %s ms',
    (stepMs) => {
      const { local, pass, errorMs } = openClocks();
      expect(errorMs()).toBe(0);
      pass(30);
      local.wallMs += stepMs;
      expect(errorMs()).toBe(0);
      pass(30);
      expect(errorMs()).toBe(0);
    },
  );

  it('is compared with the local one only at times', () => {
    const { local, pass, errorMs } = openClocks();
    for (let request = 0; request < 1000; request += 1) {
      expect(errorMs()).toBe(0);
      pass(1);
    }
    expect(local.read).toBe(5);
  });
});
