import { systemClock, type Clock } from '@gateway/shared/clock';

/** More turns than a request takes from its first connection to its arrival at an upstream in this process. */
const TURNS = 25;

/**
 * The real clock, whose timers leave the event loop some turns after their time: where the machine
 * held the whole process for longer than a timer waits, what was under way arrives before the timer runs.
 */
export const patientClock: Clock = {
  ...systemClock,
  setTimer(delayMs, callback) {
    let immediate: NodeJS.Immediate | undefined;
    const pass = (left: number) => {
      if (left === 0) callback();
      else immediate = setImmediate(pass, left - 1);
    };
    const timer = systemClock.setTimer(delayMs, () => pass(TURNS));
    return {
      cancel() {
        timer.cancel();
        clearImmediate(immediate);
      },
    };
  },
};
