import { destination, pino, type Logger } from 'pino';

export type { Logger };

/**
 * The log of a process: JSON lines on standard output, buffered, so that a line costs no system call.
 * Fatal lines are written at once. Callers never pass a header value, a body, a query value or a secret.
 */
export function createLogger(name: string, level: string): Logger {
  const stream = destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 200 });
  return pino(
    {
      name,
      level,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
}
