import { pino, type Logger } from 'pino';
import type { Registry } from 'prom-client';
import { Instruments } from './instruments.ts';
import { LogOutput } from './log-output.ts';

export type { Logger };

/** The log of a process, and its counts of lines that could not be written. */
export interface ProcessLog {
  readonly log: Logger;
  /** Registers the counts of failed writes and dropped lines. */
  readonly observe: (registry: Registry) => void;
}

const STANDARD_OUTPUT = 1;

/** As `openLog`, without the metrics. */
export function createLogger(name: string, level: string): Logger {
  return openLog(name, level).log;
}

/**
 * Opens a log of JSON lines on standard output. Lines are buffered, so that a line costs no system call;
 * fatal lines are written at once. Callers must not log a header value, a body, a query value or a secret.
 *
 * Output that cannot be written, as on a full disk, neither ends the process nor fills its memory.
 */
export function openLog(name: string, level: string): ProcessLog {
  const output = new LogOutput(STANDARD_OUTPUT);
  const log = pino(
    {
      name,
      level,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    output,
  );
  return {
    log,
    observe(registry) {
      const instruments = new Instruments(registry);
      instruments.observeCounter(
        'gateway_log_write_failures_total',
        'Failed writes of the log; their lines are written again',
        () => output.failedWrites,
      );
      instruments.observeCounter(
        'gateway_log_lines_dropped_total',
        'Log lines that were dropped because too many were waiting to be written',
        () => output.droppedLines,
      );
    },
  };
}
