import { systemClock, type Clock } from '@gateway/shared/clock';

/** More turns than a request needs from the connection to its arrival at an upstream in this process. */
const TURNS = 25;

/**
 * The real clock, but timers run some turns of the event loop late. If the machine suspends the process for longer than a
 * timer, everything that has been sent arrives before the timer runs.
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
