import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Server } from 'socket.io';
import { io, type ManagerOptions, type Socket } from 'socket.io-client';
import WebSocket from 'ws';
import { listen } from '@gateway/shared/test/upstream';
import { createHealthyServer } from '../harness/server.ts';
import { outcome, type Pair, type StartedServer, type Target } from '../harness/pair.ts';
import { pinnedVersion } from '../harness/pinned-version.ts';

const MESSAGES = 5;
const MESSAGE_BYTES = 500_000;
const TIMEOUT_MS = 5000;

/** socket.io with one server. */
export const socketIo: Pair = {
  client: 'socket.io',
  version: pinnedVersion('socket.io-client'),
  variant: 'one upstream',
  start: () => start(1),
  direct: {
    'polling, then WebSocket': 'upgraded to websocket',
    'only polling': 'connected with polling',
    'only WebSocket': 'connected with websocket',
    'message with an acknowledgement': `${MESSAGE_BYTES} bytes`,
    'cookie of the WebSocket handshake': 'set',
  },
  otherwise: {},
};

/** socket.io with two servers that know only their own sessions, and a route with affinity. */
export const socketIoTwoUpstreams: Pair = {
  client: 'socket.io',
  version: pinnedVersion('socket.io-client'),
  variant: 'two upstreams',
  start: () => start(2),
  direct: {
    'only polling': 'connected with polling',
    'only WebSocket': 'connected with websocket',
  },
  otherwise: {},
};

/** A server with sessions. */
export async function startSocketIoUpstream() {
  const http = createHealthyServer((_request, response) => void response.writeHead(404).end());
  const server = new Server(http);
  server.engine.on('initial_headers', (headers: Record<string, string>) => {
    headers['set-cookie'] = 'io=1';
  });
  server.on('connection', (socket) => {
    socket.on('message', (data: Buffer, answer: (bytes: number) => void) => answer(data.length));
  });
  const { url } = await listen(http);
  return { url, close: () => server.close() };
}

async function start(count: 1 | 2): Promise<StartedServer> {
  const first = await startSocketIoUpstream();
  const others = count === 2 ? [await startSocketIoUpstream()] : [];
  return {
    urls: [first.url, ...others.map(({ url }) => url)],
    ...(count === 2 && { route: { affinity: { by: 'gateway_cookie' } } }),
    use: count === 2 ? useTransports : useAll,
    async close() {
      await Promise.all([first, ...others].map((one) => one.close()));
    },
  };
}

/** Connects as the client does, uses the socket, and disconnects. */
export async function connectSocket<T>(
  { url, token }: Target,
  options: Partial<ManagerOptions>,
  use: (socket: Socket) => Promise<T>,
): Promise<T> {
  const { origin, pathname } = new URL(url);
  const socket = io(origin, {
    path: `${pathname === '/' ? '' : pathname}/socket.io/`,
    // Keeps cookies, as browsers do.
    withCredentials: true,
    extraHeaders: { authorization: `Bearer ${token}` },
    reconnection: false,
    forceNew: true,
    timeout: TIMEOUT_MS,
    ...options,
  });
  const connected = Promise.withResolvers<undefined>();
  const ended = Promise.withResolvers<never>();
  socket.on('connect', () => connected.resolve(undefined));
  socket.on('connect_error', (error) => {
    // The client tells the answer of the server only as an error of a request.
    const isAnswered = /^xhr (poll|post) error$/.test(error.message);
    ended.reject(isAnswered ? new Error('unknown session') : error);
  });
  socket.on('disconnect', () => ended.reject(new Error('unknown session')));
  try {
    return await Promise.race([connected.promise.then(() => use(socket)), ended.promise]);
  } finally {
    socket.disconnect();
  }
}

/** Sends so many messages that a session which only one of two servers knows ends. */
const connectWith = (target: Target, transport: 'polling' | 'websocket') =>
  outcome(() =>
    connectSocket(target, { transports: [transport] }, async (socket) => {
      for (let count = 0; count < MESSAGES; count += 1) {
        await socket.timeout(TIMEOUT_MS).emitWithAck('message', Buffer.alloc(1));
      }
      return `connected with ${socket.io.engine.transport.name}`;
    }),
  );

async function useTransports(target: Target) {
  return {
    'only polling': await connectWith(target, 'polling'),
    'only WebSocket': await connectWith(target, 'websocket'),
  };
}

async function useAll(target: Target) {
  return {
    ...(await useTransports(target)),
    'polling, then WebSocket': await outcome(() =>
      connectSocket(target, {}, async ({ io: { engine } }) => {
        if (engine.transport.name !== 'websocket') {
          await new Promise((resolve) => void engine.once('upgrade', resolve));
        }
        return `upgraded to ${engine.transport.name}`;
      }),
    ),
    'message with an acknowledgement': await outcome(() =>
      connectSocket(target, {}, async (socket) => {
        const message = Buffer.alloc(MESSAGE_BYTES, 1);
        return `${await socket.timeout(TIMEOUT_MS).emitWithAck('message', message)} bytes`;
      }),
    ),
    'cookie of the WebSocket handshake': await handshakeCookie(target),
  };
}

/** What the answer that opens the WebSocket sets; the client itself keeps cookies of polling only. */
async function handshakeCookie({ url, token }: Target): Promise<string> {
  const address = `${url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`;
  const socket = new WebSocket(address, { headers: { authorization: `Bearer ${token}` } });
  const [response] = (await once(socket, 'upgrade')) as [IncomingMessage];
  socket.terminate();
  return response.headers['set-cookie']?.some((one) => one.startsWith('io=')) ? 'set' : 'not set';
}
