import { describe, expect, it } from '@jest/globals';
import { RequestTurn } from './turn.ts';

/** A turn of 10 requests at 1000 a second, whose requests the test answers. */
function startTurn() {
  let nowMs = 5000;
  const open: ((isGood: boolean) => void)[] = [];
  const latencies: number[] = [];
  const turn = new RequestTurn(
    {
      perSecond: 1000,
      seconds: 0.01,
      startMs: nowMs,
      answered: (latencyMs) => latencies.push(latencyMs),
    },
    (done) => open.push(done),
    () => nowMs,
  );
  const advance = (ms: number) => {
    nowMs += ms;
    turn.tick();
  };
  return { turn, open, latencies, advance };
}

describe('a turn', () => {
  it('sends what is due, and counts latencies from then: all requests of a stall have it', async () => {
    const { turn, open, latencies, advance } = startTurn();
    advance(0);
    expect(open).toHaveLength(1);
    advance(3);
    expect(open).toHaveLength(4);
    advance(100);
    expect(open).toHaveLength(10);
    for (const done of open) done(true);
    await turn.allAnswered;
    expect(latencies).toEqual([103, 102, 101, 100, 99, 98, 97, 96, 95, 94]);
    expect(turn.end()).toBe(0);
  });

  it('counts each failed request once: a bad response, none at all, and one that was not even sent', () => {
    const { turn, open, latencies, advance } = startTurn();
    advance(4);
    expect(open).toHaveLength(5);
    open[0]?.(true);
    open[1]?.(false);
    expect(turn.end()).toBe(9);
    // After the end.
    open[2]?.(true);
    open[3]?.(false);
    expect(turn.end()).toBe(9);
    expect(latencies).toEqual([4]);
  });
});
