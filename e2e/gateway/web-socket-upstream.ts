import { createServer } from 'node:http';
import { listen, type SeenRequest, type TestUpstream } from '@gateway/shared/test/upstream';
import { WebSocketServer } from 'ws';

/** An upstream that takes WebSockets, gives back what comes over them, and keeps the head of each. */
export async function startWebSocketUpstream(): Promise<Omit<TestUpstream, 'checks'>> {
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
    ...{ url, port, seen },
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      await close();
    },
  };
}
