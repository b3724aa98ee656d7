import { connect } from 'node:net';

/**
 * One GET over a connection of its own. Resolves when that is closed, with the version and the status of what
 * came, or empty where nothing did.
 */
export async function callOnce(port: number, token: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(
    `GET /v1/proxy/orders HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${token}\r\nconnection: close\r\n\r\n`,
  );
  let received = '';
  socket.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')));
  // Cut off or ended is the same here.
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('close', resolve));
  return received.slice(0, 'HTTP/1.1 200'.length);
}
