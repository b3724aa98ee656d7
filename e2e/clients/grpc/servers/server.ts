import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Ledger } from '../behaviour.ts';

/** A server of the service, of whatever library. */
export interface CallServer {
  /** An `http` URL. */
  readonly url: string;
  readonly ledger: Ledger;
  /** The most connections that were open at one time, since the last call. */
  takeMostConnections(): number;
  /** Announces the end of each connection with a graceful GOAWAY, and serves what has begun. */
  goAway(): void;
  /** Ends the connections without a word, as if the process had died. */
  die(): void;
  close(): Promise<void>;
}

/** A port of a server that gets each connection from it. */
export async function openPort(serve: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  let most = 0;
  const port = createServer((socket) => {
    sockets.add(socket);
    most = Math.max(most, sockets.size);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    serve(socket);
  });
  await new Promise<void>((resolve) => port.listen(0, '127.0.0.1', resolve));
  const die = () => sockets.forEach((socket) => socket.destroy());
  return {
    url: `http://127.0.0.1:${(port.address() as AddressInfo).port}`,
    die,
    takeMostConnections() {
      const taken = most;
      most = sockets.size;
      return taken;
    },
    close: () =>
      new Promise<void>((resolve) => {
        port.close(() => resolve());
        die();
      }),
  };
}

/** A port whose connections lead to the port of another process. */
export function openRelay(port: () => number) {
  return openPort((socket) => {
    const onward = connect(port(), '127.0.0.1');
    onward.on('error', () => socket.destroy()).once('close', () => socket.destroy());
    socket.once('close', () => onward.destroy());
    socket.pipe(onward).pipe(socket);
  });
}
