import path from 'node:path';
import { freePort } from '@gateway/local-stack/process/free-port';
import { startProcess } from '@gateway/local-stack/process/managed-process';
import { waitUntilReady } from '@gateway/local-stack/process/wait-until-ready';
import { answersCorrectly } from '../load/answer.ts';
import { fillConfig } from './fill-config.ts';

/** The upstream of every row. */
export interface Upstream {
  readonly port: number;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

const READY_TIMEOUT_MS = 10_000;

/** Starts the nginx that answers the requests of every row. It runs on the cores of this process. */
export async function startUpstream(folder: string, signal: AbortSignal): Promise<Upstream> {
  const port = await freePort();
  const site = { folder, launcher: [], upstreamPort: port, signal };
  const config = await fillConfig(new URL('upstream.conf', import.meta.url), site, port);
  const upstream = await startProcess({
    name: 'upstream',
    command: 'nginx',
    args: ['-e', 'stderr', '-c', config],
    env: { PATH: process.env['PATH'] },
    logFile: path.join(folder, 'upstream.log'),
  });
  const check = () => answersCorrectly(`http://127.0.0.1:${port}/`, '');
  await waitUntilReady(upstream, { check, timeoutMs: READY_TIMEOUT_MS, signal });
  return {
    port,
    pid: upstream.pid,
    stop: async () => {
      await upstream.stop();
    },
  };
}
