import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { ANSWER } from '../../load/answer.ts';
import { sendBytes } from './send-bytes.ts';
import { sendEvents } from './send-events.ts';

/**
 * The upstream of the workloads. It reads each request whole before it answers: `/bytes/<n>` with so many bytes,
 * `/events` with server-sent events, other paths with the answer of all rows. It sends messages of WebSockets back. It
 * keeps idle connections open longer than a run takes.
 */
const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  const { url = '' } = request;
  request.resume().once('end', () => {
    const [, bytes] = /\/bytes\/(\d+)$/.exec(url) ?? [];
    if (bytes !== undefined) sendBytes(response, Number(bytes));
    else if (url.endsWith('/events')) sendEvents(response);
    else response.end(ANSWER);
  });
});
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket) => {
  socket.on('message', (data, binary) => socket.send(data, { binary }));
});
server.listen(0, '127.0.0.1', 4096, () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
