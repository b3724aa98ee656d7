import { pino, type Logger } from 'pino';
import type { Registry } from 'prom-client';
import { Instruments } from './instruments.ts';
import { logFields } from './log-fields.ts';
import { LogOutput } from './log-output.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { severityOf } from './severity.ts';

export type { Logger };

/** The log of a process, and its counts of lines that could not be written. */
export interface ProcessLog {
  readonly log: Logger;
  /** Registers the counts of failed writes and dropped lines. */
  readonly observe: (registry: Registry) => void;
}

const STANDARD_OUTPUT = 1;

/** As `openLog`, without the metrics, for a program that runs once. */
export function createLogger(service: string, level: string): Logger {
  return openLog({ service, instance: service }, level).log;
}

/**
 * Opens a log of JSON lines on standard output. Lines are buffered, so that a line costs no system call;
 * fatal lines are written at once. Callers must not log a header value, a body, a query value or a secret.
 * The names are those of OpenTelemetry (docs/adr/0045); call sites use plain ones, which `log-fields.ts` maps.
 *
 * Output that cannot be written, as on a full disk, neither ends the process nor fills its memory.
 */
export function openLog({ service, instance }: ProcessIdentity, level: string): ProcessLog {
  const output = new LogOutput(STANDARD_OUTPUT);
  const log = pino(
    {
      level,
      base: {
        'service.name': service,
        'service.instance.id': instance,
        'process.pid': process.pid,
      },
      messageKey: 'body',
      timestamp: () => `,"timestamp":"${new Date().toISOString()}"`,
      formatters: { level: severityOf, log: logFields },
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
