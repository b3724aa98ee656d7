import { createServer, type Server } from 'node:http';
import { keptPort } from '@gateway/shared/test/kept-port';

/** An upstream that can be stopped, which closes its connections, and started again on its port. */
export interface SwitchedUpstream {
  readonly url: string;
  /** Requests other than health checks. */
  readonly served: number;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** It answers every request with 200 after `latencyMs`, with its name in `X-Upstream-Name`. */
export async function startSwitchedUpstream(
  name: string,
  latencyMs = 0,
): Promise<SwitchedUpstream> {
  let server: Server | undefined;
  const port = await keptPort();
  let served = 0;

  async function start(): Promise<void> {
    const started = createServer((request, response) => {
      if (request.headers['user-agent'] !== 'gateway-health-check') served += 1;
      request.resume();
      const answer = () => response.writeHead(200, { 'x-upstream-name': name }).end('{}');
      setTimeout(answer, latencyMs).unref();
    });
    await new Promise<void>((resolve, reject) => {
      started.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    server = started;
  }

  await start();
  return {
    url: `http://127.0.0.1:${port}`,
    get served() {
      return served;
    },
    start,
    async stop() {
      const stopping = server;
      server = undefined;
      if (stopping === undefined) return;
      await new Promise<void>((resolve) => {
        stopping.close(() => resolve());
        stopping.closeAllConnections();
      });
    },
  };
}
