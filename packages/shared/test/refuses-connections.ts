import { once } from 'node:events';
import { connect } from 'node:net';
import { eventually } from './eventually.ts';

/** Waits until nobody listens on a port of this machine. */
export function refusesConnections(port: number): Promise<void> {
  return eventually(async () => {
    const socket = connect(port, '127.0.0.1');
    const refused = once(socket, 'error').then(() => true);
    const taken = once(socket, 'connect').then(() => false);
    const isRefused = await Promise.race([refused, taken]);
    socket.destroy();
    if (!isRefused) throw new Error(`port ${port} still accepts connections`);
  });
}
