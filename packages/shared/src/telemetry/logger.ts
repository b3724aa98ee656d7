import { destination, pino, type Logger } from 'pino';

export type { Logger };

/** A block is written when it is full, or after this time. */
const BLOCK_BYTES = 64 * 1024;
const FLUSH_MS = 200;

/**
 * The log of a process: JSON lines on standard output, buffered, so that a line costs no system call.
 * Fatal lines are written at once. Callers never pass a header value, a body, a query value or a secret.
 */
export function createLogger(name: string, level: string): Logger {
  const stream = destination({
    dest: 1,
    sync: false,
    minLength: BLOCK_BYTES,
    maxWrite: 2 * BLOCK_BYTES,
    periodicFlush: FLUSH_MS,
  });
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
