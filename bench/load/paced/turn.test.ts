import { describe, expect, it } from '@jest/globals';
import { beginTurn } from './turn.ts';

/** A turn of 10 requests at 1000 a second, whose requests the test answers. */
function startTurn(warmUpSeconds = 0) {
  let nowMs = 5000;
  const open: ((outcome: string) => void)[] = [];
  const ended: [outcome: string, latencyMs: number][] = [];
  const turn = beginTurn(
    {
      perSecond: 1000,
      warmUpSeconds,
      seconds: 0.01,
      startMs: nowMs,
      tickMs: 0.25,
      ended: (outcome, latencyMs) => ended.push([outcome, latencyMs]),
    },
    (done) => open.push(done),
    () => nowMs,
  );
  const advance = (ms: number) => {
    nowMs += ms;
    turn.tick();
  };
  return { turn, open, ended, advance };
}

describe('a turn', () => {
  it('sends what is due, and counts latencies from then: all requests of a stall have it', async () => {
    const { turn, open, ended, advance } = startTurn();
    advance(0);
    expect(open).toHaveLength(1);
    advance(3);
    expect(open).toHaveLength(4);
    advance(100);
    expect(open).toHaveLength(10);
    for (const done of open) done('200');
    await turn.allEnded;
    expect(ended.map(([, latencyMs]) => latencyMs)).toEqual([
      103, 102, 101, 100, 99, 98, 97, 96, 95, 94,
    ]);
    expect(turn.end()).toBe(0);
  });

  it('counts each request once that has not ended, also one that was not even sent', () => {
    const { turn, open, ended, advance } = startTurn();
    advance(4);
    expect(open).toHaveLength(5);
    open[0]?.('200');
    open[1]?.('503');
    expect(turn.end()).toBe(8);
    // After the end.
    open[2]?.('200');
    expect(turn.end()).toBe(8);
    expect(ended).toEqual([
      ['200', 4],
      ['503', 3],
    ]);
  });

  it('does not count the requests of its warm-up', () => {
    const { turn, open, ended, advance } = startTurn(0.002);
    advance(20);
    expect(open).toHaveLength(12);
    for (const done of open.slice(0, 3)) done('503');
    expect(ended).toEqual([['503', 18]]);
    expect(turn.end()).toBe(9);
  });
});
