import { pause, type Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { buildMissingIndexes } from './store/missing-indexes.ts';

const RETRY_MS = 60 * 1000;

export interface IndexBuildOptions {
  /** Leads to Postgres itself. */
  readonly databaseUrl: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface IndexBuild {
  /** Resolves when no index is missing, or after `stop`. */
  readonly ended: Promise<void>;
  /** Interrupts the build. The next start continues it. */
  stop(): Promise<void>;
}

/** Builds the indexes that a migration has declared, in the background. Calls are answered without them, only slower. */
export function startIndexBuild(options: IndexBuildOptions): IndexBuild {
  const stopping = new AbortController();
  const ended = run(options, stopping.signal);
  return {
    ended,
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

async function run(
  { databaseUrl, clock, log }: IndexBuildOptions,
  signal: AbortSignal,
): Promise<void> {
  const onBuilt = (index: string) => {
    log.info({ index }, 'index built');
  };
  while (!signal.aborted) {
    try {
      if (await buildMissingIndexes(databaseUrl, onBuilt, signal)) return;
    } catch (error) {
      log.warn({ err: error }, 'index build failed; retrying in a minute');
    }
    await pause(clock, RETRY_MS, signal);
  }
}
