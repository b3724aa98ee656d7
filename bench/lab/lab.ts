import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pinned, pinSelf, splitCores, type Cores } from './cores.ts';
import type { Run } from './run.ts';
import { requireTools } from './tools.ts';
import { startUpstream } from './upstream.ts';

/** A run that has cores, a folder and an upstream. */
export interface Lab extends Run {
  readonly cores: Cores;
  /** Holds the configuration files and logs of the run; removed when the run ends. */
  readonly folder: string;
  /** Put before a command so that it runs on the measured core. */
  readonly launcher: readonly string[];
  /** Of the commands that runs use, such as `nginx 1.22.1`. */
  readonly toolVersions: readonly string[];
  readonly upstreamPort: number;
  readonly upstreamPid: number;
}

/** Prepares a run. @throws {StartError} of one line */
export async function startLab(run: Run): Promise<Lab> {
  const toolVersions = await requireTools();
  const cores = splitCores();
  await pinSelf(cores.load);
  run.defer(() => pinSelf(cores.all.join(',')));
  const folder = await mkdtemp(path.join(tmpdir(), 'gateway-bench-'));
  run.defer(() => rm(folder, { recursive: true, force: true }));
  // The nginx worker runs under an unprivileged account and must reach its temporary folders.
  await chmod(folder, 0o711);
  const { port: upstreamPort, pid: upstreamPid } = await startUpstream(folder, run);
  const launcher = pinned(cores.measured);
  return { ...run, cores, folder, launcher, toolVersions, upstreamPort, upstreamPid };
}
