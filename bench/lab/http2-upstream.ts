import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { freePort } from '@gateway/local-stack/process/free-port';
import { startProcess } from '@gateway/local-stack/process/managed-process';
import { waitUntilReady } from '@gateway/local-stack/process/wait-until-ready';
import { ANSWER } from './answer.ts';
import type { Lab } from './lab.ts';
import { startScript } from './script.ts';

const READY_TIMEOUT_MS = 10_000;
/** The path of every row. nginx and HAProxy pass it on. */
export const ROW_PATH = '/v1/proxy/orders';

/**
 * Starts an nghttpd that answers every request to `ROW_PATH` with `ANSWER`, over HTTP/2 without TLS. It runs on the cores of
 * this process.
 *
 * @param trailer sent after the body, such as `grpc-status: 0`
 */
export async function startHttp2Upstream(lab: Lab, trailer?: string): Promise<number> {
  const root = path.join(lab.folder, `http2-${randomUUID()}`);
  await mkdir(path.join(root, path.dirname(ROW_PATH)), { recursive: true });
  await writeFile(path.join(root, ROW_PATH), ANSWER);
  const port = await freePort();
  const upstream = await startProcess({
    name: 'http2-upstream',
    command: 'nghttpd',
    args: [
      ...['--no-tls', '-a', '127.0.0.1', '-d', root],
      ...(trailer === undefined ? [] : [`--trailer=${trailer}`]),
      String(port),
    ],
    env: { PATH: process.env['PATH'] },
    logFile: `${root}.log`,
  });
  lab.defer(() => upstream.stop());
  const check = () => accepts(port);
  await waitUntilReady(upstream, { check, timeoutMs: READY_TIMEOUT_MS, signal: lab.signal });
  return port;
}

/** Starts a server of Node that sends streams of gRPC messages; see `grpc-upstream-process.ts`. */
export async function startGrpcMessages(lab: Lab): Promise<number> {
  const script = startScript(lab, new URL('grpc-upstream-process.ts', import.meta.url));
  return Number(await script.nextMessage());
}

/** Rejects while nothing listens. */
async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } finally {
    socket.destroy();
  }
}
