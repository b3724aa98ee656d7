import { once } from 'node:events';
import type { Socket } from 'node:net';

/** The first bytes that arrive. @throws if the connection ends before that */
export async function firstBytes(socket: Socket): Promise<Buffer> {
  const closed = once(socket, 'close').then(() => {
    throw new Error('a connection was closed without a response');
  });
  const [bytes] = (await Promise.race([once(socket, 'data'), closed])) as [Buffer];
  return bytes;
}
