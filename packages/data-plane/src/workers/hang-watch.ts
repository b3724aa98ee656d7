import type { Clock, Timer } from '@gateway/shared/clock';

/** A process hangs if this many pings in a row stay unanswered. */
const MAX_UNANSWERED = 6;

export interface HangWatchOptions {
  readonly clock: Clock;
  /** How long a process may leave pings unanswered, ms. */
  readonly timeoutMs: number;
  /** Sends a message that the event loop of the process answers as soon as it can. */
  readonly ping: () => void;
  /** Called once, with the time since the last answer, ms. */
  readonly onHang: (silentMs: number) => void;
}

export interface HangWatch {
  /** The process has answered, however late. */
  answered(): void;
  stop(): void;
}

/**
 * Detects that the event loop of a process hangs. It counts unanswered pings and not elapsed time, because no pings are
 * sent while the whole machine, or this process, is suspended.
 */
export function watchForHang({ clock, timeoutMs, ping, onHang }: HangWatchOptions): HangWatch {
  let unanswered = 0;
  let answeredMs = clock.monotonicMs();
  let timer: Timer | undefined;

  function pingAgain(): void {
    if (unanswered === MAX_UNANSWERED) {
      onHang(clock.monotonicMs() - answeredMs);
      return;
    }
    unanswered += 1;
    ping();
    timer = clock.setTimer(timeoutMs / MAX_UNANSWERED, pingAgain);
  }

  pingAgain();
  return {
    answered() {
      unanswered = 0;
      answeredMs = clock.monotonicMs();
    },
    stop: () => timer?.cancel(),
  };
}
