import type { Clock, Timer } from '@gateway/shared/clock';

/** Questions in a row that have to stay without an answer. */
const MAX_UNANSWERED = 6;

export interface HangWatchOptions {
  readonly clock: Clock;
  /** How long a process may leave questions without any answer, ms. */
  readonly timeoutMs: number;
  /** Sends a question that the event loop of the process answers as soon as it comes round to it. */
  readonly ask: () => void;
  /** Called once, with how long nothing was heard, ms. */
  readonly hangs: (silentMs: number) => void;
}

export interface HangWatch {
  /** The process has answered; however late, it lives. */
  heard(): void;
  stop(): void;
}

/**
 * Finds out that the event loop of a process hangs. Questions are counted, not the time that went by: where
 * the whole machine stood still, or this process did, nobody was asked meanwhile.
 */
export function watchForHang({ clock, timeoutMs, ask, hangs }: HangWatchOptions): HangWatch {
  let unanswered = 0;
  let heardMs = clock.monotonicMs();
  let timer: Timer | undefined;

  function askAgain(): void {
    if (unanswered === MAX_UNANSWERED) {
      hangs(clock.monotonicMs() - heardMs);
      return;
    }
    unanswered += 1;
    ask();
    timer = clock.setTimer(timeoutMs / MAX_UNANSWERED, askAgain);
  }

  askAgain();
  return {
    heard() {
      unanswered = 0;
      heardMs = clock.monotonicMs();
    },
    stop: () => timer?.cancel(),
  };
}
