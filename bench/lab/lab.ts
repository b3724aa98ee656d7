import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { createRunner, type Runner } from '@gateway/shared/runner';
import { pinned, pinSelf, splitCores, type Cores } from './cores.ts';
import { untilInterrupted } from './interruption.ts';
import type { Site } from './site.ts';
import { requireTools, type FurtherCommand } from './tools.ts';
import { startUpstream } from './upstream.ts';

/** What a run has: its folder, its cores, the upstream. */
export interface Lab {
  readonly cores: Cores;
  readonly site: Site;
  readonly upstreamPid: number;
  /** Stops what the run started, last started first. */
  readonly runner: Runner;
}

/**
 * Prepares a run, runs it, and cleans up afterwards, also after an error, a signal or a timeout.
 *
 * @param tools commands that this run needs beside those of every run
 * @throws the error of the run, or a {StartError} of one line
 */
export async function withLab(
  timeoutMs: number,
  run: (lab: Lab) => Promise<void>,
  tools: readonly FurtherCommand[] = [],
): Promise<void> {
  await requireTools(tools);
  const cores = splitCores();
  await pinSelf(cores.load);
  await untilInterrupted(async (signal, stop) => {
    const timer = setTimeout(() => stop(`not done within ${timeoutMs / 1000} s`), timeoutMs);
    const runner = createRunner(createLogger('bench', 'error'));
    try {
      const folder = await mkdtemp(path.join(tmpdir(), 'gateway-bench-'));
      runner.defer('folder', () => rm(folder, { recursive: true, force: true }));
      // The nginx worker runs under an unprivileged account and must reach its temporary folders.
      await chmod(folder, 0o711);
      const upstream = await startUpstream(folder, signal);
      runner.defer('upstream', upstream.stop);
      const launcher = pinned(cores.measured);
      const site = { folder, launcher, upstreamPort: upstream.port, signal };
      await run({ cores, runner, site, upstreamPid: upstream.pid });
    } finally {
      clearTimeout(timer);
      const error = await runner.stop();
      if (error !== undefined) process.exitCode = 1;
    }
  });
}
