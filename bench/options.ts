import { parseArgs } from 'node:util';
import { StartError } from '@gateway/local-stack/process/start-error';

/** What a run of the bench does; every bound of its length is here. */
export interface BenchOptions {
  /** Measured rounds; each visits every row once. */
  readonly rounds: number;
  readonly roundSeconds: number;
  readonly warmUpSeconds: number;
  readonly connections: number;
  /** Names of the rows to run; empty means all. */
  readonly only: readonly string[];
  /** Whether docs/understand/benchmarks.md gets the table. */
  readonly write: boolean;
}

const USAGE =
  'usage: pnpm bench [--rounds 7] [--round-seconds 1] [--warm-up-seconds 10] [--connections 32] ' +
  '[--only nginx,gateway] [--no-write]';

/**
 * Reads the command line.
 *
 * @throws {StartError} in one line, with the usage
 */
export function parseOptions(args: readonly string[]): BenchOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      allowNegative: true,
      options: {
        rounds: { type: 'string', default: '7' },
        'round-seconds': { type: 'string', default: '1' },
        'warm-up-seconds': { type: 'string', default: '10' },
        connections: { type: 'string', default: '32' },
        only: { type: 'string', default: '' },
        write: { type: 'boolean', default: true },
      },
    });
    return {
      rounds: count('rounds', values.rounds, 100),
      roundSeconds: count('round-seconds', values['round-seconds'], 60),
      warmUpSeconds: count('warm-up-seconds', values['warm-up-seconds'], 60),
      connections: count('connections', values.connections, 1000),
      only: values.only.split(',').filter((name) => name !== ''),
      write: values.write,
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(`${reason}; ${USAGE}`, { cause: error });
  }
}

function count(name: string, text: string, max: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw new Error(`--${name} must be a whole number from 1 to ${max}`);
  }
  return value;
}
