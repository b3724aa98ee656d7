import { createServer as createHttp2Server } from 'node:http2';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, it } from '@jest/globals';
import {
  FIRST_WINDOW,
  MAX_WINDOW,
  SETTING,
  settings,
  windowUpdate,
} from '@gateway/http/test/http2-frames';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { fill, resendWorld, statusOf } from '../../test/resend-world.ts';
import { CALLERS } from '../../test/stream-world.ts';

const opened = closeAfterEach();
const READ_BYTES = 256 * 1024;

/**
 * An upstream of HTTP/2 whose first connection allows more than any socket holds, and reads nothing once a request has
 * begun. All further ones answer.
 */
async function startUnread() {
  const bodies: (() => string)[] = [];
  const answering = createHttp2Server();
  answering.on('session', (session) => {
    session.on('stream', (stream) => {
      let text = '';
      stream.setEncoding('latin1').on('data', (part: string) => (text += part));
      stream.on('error', () => undefined);
      stream.on('end', () => {
        stream.respond({ ':status': 200 });
        stream.end();
      });
      bodies.push(() => text);
    });
  });
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    sockets.push(socket);
    if (sockets.length > 1) {
      answering.emit('connection', socket);
      return;
    }
    socket.write(settings([SETTING.initialWindowSize, MAX_WINDOW]));
    socket.write(windowUpdate(MAX_WINDOW - FIRST_WINDOW, 0));
    let bytes = 0;
    socket.on('data', (part) => {
      bytes += part.length;
      if (bytes > READ_BYTES) socket.pause();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    lose: () => sockets[0]?.resetAndDestroy(),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

it.each(CALLERS)(
  'a body over %s is sent again if its connection was lost before its head was written',
  async (protocol) => {
    const upstream = opened(await startUnread());
    const { gateway, call } = await resendWorld(opened, [upstream.url], {
      retry_count: 1,
      max_body_bytes: 1024 ** 3,
    });
    // It fills the connection.
    const upload = call('http1');
    expect(await fill(upload.body)).toBeGreaterThan(0);
    const caller = call(protocol);
    caller.send('first ');
    await eventually(async () => expect(await gateway.inFlight()).toBe(2));
    upstream.lose();
    await eventually(() => expect(upstream.bodies).toHaveLength(1));
    caller.send('second');
    caller.finish();
    expect(await statusOf(caller)).toBe(200);
    expect(await statusOf(upload)).toBe(502);
    expect(upstream.bodies[0]?.()).toBe('first second');
    await eventually(() => expect(gateway.records).toHaveLength(2));
    const attempts = gateway.records.map((record) => record.attempts);
    expect(attempts.find((made) => made.length === 2)).toMatchObject([
      { error: 'reset', retry: { retried: true, why: 'nothing_sent' } },
      { status: 200 },
    ]);
    expect(attempts.find((made) => made.length === 1)).toMatchObject([
      { error: 'reset', retry: { retried: false, why: 'method_not_idempotent' } },
    ]);
  },
);
