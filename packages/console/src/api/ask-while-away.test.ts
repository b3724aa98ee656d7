import { describe, expect, it } from '@jest/globals';
import { ASK_EVERY_MS, askWhileAway } from './ask-while-away.ts';

describe('the questions to a control plane that is away', () => {
  function asked() {
    const timers: { callback: () => void; delayMs: number; stopped: boolean }[] = [];
    const answers: (() => void)[] = [];
    let away = false;
    let tell: () => void = () => undefined;
    askWhileAway(
      {
        isAway: () => away,
        subscribe: (listener) => {
          tell = listener;
          return () => undefined;
        },
      },
      () => new Promise<void>((resolve) => answers.push(resolve)),
      {
        start(callback, delayMs) {
          const timer = { callback, delayMs, stopped: false };
          timers.push(timer);
          return () => (timer.stopped = true);
        },
      },
    );
    const set = (next: boolean) => {
      away = next;
      tell();
    };
    /** The question with this number was answered, or has failed. */
    const end = async (index: number) => {
      answers[index]?.();
      await Promise.resolve();
    };
    return { timers, answers, set, end };
  }

  it('begin when it is away, one after the other', async () => {
    const { timers, answers, set, end } = asked();
    expect(timers).toEqual([]);
    set(true);
    expect(timers).toMatchObject([{ delayMs: ASK_EVERY_MS }]);
    timers[0]?.callback();
    expect([answers.length, timers.length]).toEqual([1, 1]);
    await end(0);
    expect(timers).toHaveLength(2);
    timers[1]?.callback();
    expect(answers).toHaveLength(2);
  });

  it('end when it is back', async () => {
    const { timers, set, end } = asked();
    set(true);
    timers[0]?.callback();
    set(false);
    await end(0);
    expect(timers).toHaveLength(1);
    set(true);
    set(false);
    expect(timers.at(-1)?.stopped).toBe(true);
  });
});
