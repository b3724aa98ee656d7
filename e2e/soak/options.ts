import { parseArgs } from 'node:util';

export interface SoakOptions {
  /** Duration of the load. Start and the wait for the last records take additional time. */
  readonly minutes: number;
  /** Of all kinds of callers together. */
  readonly callsPerSecond: number;
  /** Workers of each data plane. */
  readonly workers: number;
}

const MAX_MINUTES = 24 * 60;
const MAX_CALLS_PER_SECOND = 5000;
const MAX_WORKERS = 8;

function bounded(text: string, name: string, max: number): number {
  const value = Number(text);
  if (value > 0 && value <= max) return value;
  throw new Error(`${name} must be above 0 and at most ${max}`);
}

/**
 * Parses the command line.
 *
 * @throws Error in one line that names the option
 */
export function parseOptions(args: readonly string[]): SoakOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '20' },
      'calls-per-second': { type: 'string', default: '150' },
      workers: { type: 'string', default: '1' },
    },
  });
  return {
    minutes: bounded(values.minutes, '--minutes', MAX_MINUTES),
    callsPerSecond: bounded(values['calls-per-second'], '--calls-per-second', MAX_CALLS_PER_SECOND),
    workers: Math.ceil(bounded(values.workers, '--workers', MAX_WORKERS)),
  };
}
