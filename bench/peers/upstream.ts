import path from 'node:path';
import { freePort } from '@gateway/local-stack/process/free-port';
import { startProcess } from '@gateway/local-stack/process/managed-process';
import { waitUntilReady } from '@gateway/local-stack/process/wait-until-ready';
import { answersRight } from '../load/answer.ts';
import { fillConfig } from './start-peer.ts';

export interface Upstream {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** Starts the nginx that answers every row's requests, on the cores of this process. */
export async function startUpstream(folder: string, signal: AbortSignal): Promise<Upstream> {
  const port = await freePort();
  const site = { folder, launcher: [], upstreamPort: port, signal };
  const upstream = await startProcess({
    name: 'upstream',
    command: 'nginx',
    args: ['-e', 'stderr', '-c', await fillConfig('upstream.conf', site, port)],
    env: { PATH: process.env['PATH'] },
    logFile: path.join(folder, 'upstream.log'),
  });
  const check = () => answersRight(`http://127.0.0.1:${port}/`, '');
  await waitUntilReady(upstream, { check, timeoutMs: 10_000, signal });
  return {
    port,
    stop: async () => {
      await upstream.stop();
    },
  };
}
