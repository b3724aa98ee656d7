import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closedPort, listen } from '@gateway/shared/test/upstream';
import { WebSocketServer } from 'ws';

/** The upstreams of the load. */
export interface SoakUpstreams {
  /**
   * Responds to every request with 200, to `/large` with 2 MB, to `/slow/<ms>` after that time, and
   * echoes WebSocket messages.
   */
  readonly good: string;
  /** `/status/<code>`, `/reset` breaks the connection off, `/flaky` fails every other time. */
  readonly bad: string;
  /** A port on which nothing listens. */
  readonly dead: string;
  /** Returns the ids of requests that reached one of them since the last call. */
  takeSeen(): string[];
  close(): Promise<void>;
}

const LARGE = Buffer.alloc(2 * 1024 * 1024, 'large ');

export async function startSoakUpstreams(): Promise<SoakUpstreams> {
  let seen: string[] = [];
  let flaky = 0;

  function note(request: IncomingMessage): void {
    const id = request.headers['x-request-id'];
    if (typeof id === 'string') seen.push(id);
  }

  const goodServer = createServer((request, response) => {
    note(request);
    request.on('error', () => undefined);
    request.resume().once('end', () => answerWell(request.url ?? '/', response));
  });
  const sockets = new WebSocketServer({ server: goodServer });
  sockets.on('connection', (socket, request) => {
    note(request);
    socket.on('error', () => undefined);
    socket.on('message', (data, binary) => socket.send(data, { binary }));
  });

  const badServer = createServer((request, response) => {
    note(request);
    request.on('error', () => undefined);
    request.resume().once('end', () => {
      const [, kind, value] = (request.url ?? '/').split('/');
      if (kind === 'reset') request.socket.destroy();
      else if (kind === 'flaky')
        response.writeHead((flaky += 1) % 2 === 0 ? 200 : 503).end('flaky');
      else response.writeHead(kind === 'status' ? Number(value) : 200).end('bad');
    });
  });

  const good = await listen(goodServer);
  const bad = await listen(badServer);
  const dead = `http://127.0.0.1:${await closedPort()}`;
  return {
    good: good.url,
    bad: bad.url,
    dead,
    takeSeen() {
      const taken = seen;
      seen = [];
      return taken;
    },
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      await good.close();
      await bad.close();
    },
  };
}

function answerWell(url: string, response: ServerResponse): void {
  const [, kind, value] = url.split('/');
  const answer = (body: string | Buffer) => response.end(body);
  if (kind === 'large') answer(LARGE);
  else if (kind === 'slow') setTimeout(answer, Number(value), 'slow').unref();
  else answer('{"ok":true}');
}
