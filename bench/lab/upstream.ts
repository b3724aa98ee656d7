import path from 'node:path';
import { freePort } from '@gateway/local-stack/process/free-port';
import { startProcess } from '@gateway/local-stack/process/managed-process';
import { waitUntilReady } from '@gateway/local-stack/process/wait-until-ready';
import { answersCorrectly } from './answer.ts';
import { fillConfig } from './fill-config.ts';
import type { Run } from './run.ts';
import { startScript } from './script.ts';
import type { UpstreamOrder } from './upstream-process.ts';

const READY_TIMEOUT_MS = 10_000;

/** Starts the nginx that answers the requests of every row. It runs on the cores of this process. */
export async function startUpstream(folder: string, run: Run) {
  const port = await freePort();
  const template = new URL('upstream.conf', import.meta.url);
  const config = await fillConfig(template, folder, { PORT: String(port) });
  const upstream = await startProcess({
    name: 'upstream',
    command: 'nginx',
    args: ['-e', 'stderr', '-c', config],
    env: { PATH: process.env['PATH'] },
    logFile: path.join(folder, 'upstream.log'),
  });
  run.defer(() => upstream.stop());
  const check = () => answersCorrectly(`http://127.0.0.1:${port}/`, '');
  await waitUntilReady(upstream, { check, timeoutMs: READY_TIMEOUT_MS, signal: run.signal });
  return { port, pid: upstream.pid };
}

/** Starts an upstream of Node, which answers by the path of a request. Its URL has no path. */
export async function startNodeUpstream(run: Run, order: UpstreamOrder = {}) {
  const script = startScript(run, new URL('upstream-process.ts', import.meta.url), order);
  const port = Number(await script.nextMessage());
  return { pid: script.pid, port, url: `http://127.0.0.1:${port}` };
}
