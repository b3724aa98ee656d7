import { pino, type Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';
import { LogOutput } from './log-output.ts';

export type { Logger };

/** The log of a process, and what became of lines that could not be written. */
export interface ProcessLog {
  readonly log: Logger;
  /** Counts in this registry, from the first line on. */
  readonly observe: (registry: Registry) => void;
}

const STANDARD_OUTPUT = 1;

/** As `openLog`, where nobody looks at what was lost. */
export function createLogger(name: string, level: string): Logger {
  return openLog(name, level).log;
}

/**
 * JSON lines on standard output, buffered, so that a line costs no system call. Fatal lines are written
 * at once. Callers never pass a header value, a body, a query value or a secret.
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
      const registers = [registry];
      new Counter({
        name: 'gateway_log_write_failures_total',
        help: 'Writes of the log that failed; what they held is tried again',
        registers,
        collect() {
          this.reset();
          this.inc(output.failedWrites);
        },
      });
      new Counter({
        name: 'gateway_log_lines_dropped_total',
        help: 'Lines of the log that were dropped, as too much waited to be written',
        registers,
        collect() {
          this.reset();
          this.inc(output.droppedLines);
        },
      });
    },
  };
}
