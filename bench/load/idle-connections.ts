import { connect, type Socket } from 'node:net';
import { firstBytes } from './first-bytes.ts';
import { holdConnections, type HeldConnections } from './hold-connections.ts';

export interface IdleConnections {
  readonly url: string;
  readonly authorization: string;
  readonly count: number;
  readonly signal: AbortSignal;
}

/**
 * Opens connections that have one request each and then stay open.
 *
 * @throws if a response is not 200
 */
export function openIdleConnections(idle: IdleConnections): Promise<HeldConnections> {
  return holdConnections(idle.count, idle.signal, (signal) => openOne({ ...idle, signal }));
}

async function openOne({ url, authorization, signal }: IdleConnections): Promise<Socket> {
  const { hostname, port, pathname, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), signal });
  socket.on('error', () => undefined);
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${authorization}\r\n\r\n`,
  );
  const answer = await firstBytes(socket);
  if (!answer.toString('latin1').startsWith('HTTP/1.1 200 ')) {
    throw new Error(`an idle connection was refused: ${answer.toString('latin1', 0, 80)}`);
  }
  // What else arrives is dropped.
  return socket.resume();
}
