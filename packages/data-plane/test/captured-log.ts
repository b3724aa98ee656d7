import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { Logger } from '@gateway/shared/telemetry/logger';

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly reason?: string;
  readonly why?: string;
}

/** A log whose lines a test can read. */
export function captureLog(): { log: Logger; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as LogLine);
      done();
    },
  });
  return { log: pino({ level: 'debug' }, stream), lines };
}
