import { connect } from 'node:net';

/**
 * Sends one GET on a new connection. Resolves when the connection is closed, with version and status of the response, or with
 * an empty text if there was none.
 */
export async function callOnce(port: number, token: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(
    `GET /v1/proxy/orders HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${token}\r\nconnection: close\r\n\r\n`,
  );
  let received = '';
  socket.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')));
  // A reset and a normal end are the same here.
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('close', resolve));
  return received.slice(0, 'HTTP/1.1 200'.length);
}
