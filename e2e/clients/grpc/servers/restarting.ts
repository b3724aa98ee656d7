import { connect, type Socket } from 'node:net';
import { openPort } from './server.ts';

/** SETTINGS without any (RFC 9113 section 6.5). */
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
/** GOAWAY with NO_ERROR, and 0 as the last stream: none was looked at (RFC 9113 section 6.8). */
const GOAWAY = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);

/** A port before a server, which restarts when the test says. */
export interface RestartingPort {
  readonly url: string;
  /**
   * The next connections are those of a server that is about to stop: they read what they get, and when this text has
   * arrived on one of them, it sends a GOAWAY that names no call. Resolves then; all later connections lead to the server.
   */
  restartAt(text: string): Promise<void>;
  close(): Promise<void>;
}

/** @param url where the server listens */
export async function openRestartingPort(url: string): Promise<RestartingPort> {
  const target = Number(new URL(url).port);
  let restart: { readonly text: string; readonly done: () => void } | undefined;
  const stopping = (socket: Socket, { text, done }: NonNullable<typeof restart>) => {
    let read = '';
    socket.write(SETTINGS);
    socket.on('data', (bytes) => {
      read = (read + bytes.toString('latin1')).slice(-64 * 1024);
      if (restart === undefined || !read.includes(text)) return;
      restart = undefined;
      socket.write(GOAWAY);
      done();
    });
  };
  const port = await openPort((socket) => {
    if (restart !== undefined) {
      stopping(socket, restart);
      return;
    }
    const onward = connect(target, '127.0.0.1');
    onward.on('error', () => socket.destroy()).once('close', () => socket.destroy());
    socket.once('close', () => onward.destroy());
    socket.pipe(onward).pipe(socket);
  });
  return {
    url: port.url,
    restartAt: (text) =>
      new Promise((resolve) => {
        restart = { text, done: resolve };
      }),
    close: () => port.close(),
  };
}
