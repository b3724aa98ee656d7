import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { rawCall } from '@gateway/shared/test/raw-client';
import type { RawResponse } from '@gateway/shared/test/raw-response';
import { listen, type SeenRequest, type TestUpstream } from '@gateway/shared/test/upstream';
import { WebSocketServer } from 'ws';

/** Sends a WebSocket upgrade to the route (RFC 6455 section 4.1), and closes the connection after the response. */
export function openWebSocket(
  baseUrl: string,
  route: string,
  headers: Readonly<Record<string, string>>,
): Promise<RawResponse> {
  const { host, port } = new URL(baseUrl);
  const lines = [
    `Host: ${host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return rawCall(Number(port), { target: `/v1/proxy/${route}`, lines });
}

/** An upstream that accepts WebSockets, echoes their messages, and stores the head of each upgrade. */
export async function startWebSocketUpstream(): Promise<Omit<TestUpstream, 'begun' | 'checks'>> {
  const server = createServer((_request, response) => void response.end('ok'));
  const sockets = new WebSocketServer({ server });
  const seen: SeenRequest[] = [];
  sockets.on('connection', (socket, request) => {
    const { method = '', url = '', rawHeaders, headers } = request;
    seen.push({ method, url, rawHeaders, headers, body: '' });
    socket.on('error', () => undefined);
    socket.on('message', (data, isBinary) => {
      socket.send(data, { binary: isBinary });
    });
  });
  const { url, port, close } = await listen(server);
  return {
    url,
    port,
    seen,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      await close();
    },
  };
}
