import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ServerTime } from './server-time.ts';

describe("the NATS server's time", () => {
  it('is unknown before the first reading', () => {
    expect(new ServerTime().offsetMs).toBeUndefined();
  });

  it('is never wrong by more than the stated error, whatever the delays', () => {
    const delays = fc.array(fc.tuple(fc.nat(500), fc.nat(500)), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(delays, fc.integer({ min: -1e9, max: 1e9 }), (readings, offsetMs) => {
        const time = new ServerTime();
        let localMs = 1e6;
        for (const [thereMs, backMs] of readings) {
          const sentAtMs = localMs;
          const receivedAtMs = sentAtMs + thereMs + backMs;
          time.add({ sentAtMs, receivedAtMs, serverMs: sentAtMs + thereMs + offsetMs });
          localMs = receivedAtMs + 2000;
          const error = Math.abs((time.offsetMs ?? NaN) - offsetMs);
          expect(error).toBeLessThanOrEqual(time.errorMs ?? NaN);
        }
      }),
    );
  });

  it('follows a change of the server clock', () => {
    const time = new ServerTime();
    time.add({ sentAtMs: 1000, receivedAtMs: 1002, serverMs: 1001 });
    time.add({ sentAtMs: 3000, receivedAtMs: 3040, serverMs: 63_020 });
    expect(time.offsetMs).toBe(60_000);
  });
});
