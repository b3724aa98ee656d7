import { Server } from 'node:net';
import { setImmediate } from 'node:timers/promises';

/** Node's default backlog: the kernel holds no more connections that were not taken yet. */
const MAX_HELD = 511;

/**
 * Takes the connections that the kernel accepted before this call, then closes the port. Closing alone would reset them:
 * their callers are connected and may have sent a request. A connection that arrives meanwhile may be taken too. All that
 * are open stay so, also idle ones of a server of HTTP, which its own `close` would end.
 */
export async function stopListening(server: Server): Promise<void> {
  let taken = 0;
  const count = () => void (taken += 1);
  server.on('connection', count);
  try {
    for (let before = -1; server.listening && before !== taken && taken <= MAX_HELD;) {
      before = taken;
      // The second one runs after the event loop has polled, which takes one connection or more if there is any.
      await setImmediate();
      await setImmediate();
    }
  } finally {
    server.off('connection', count);
    Server.prototype.close.call(server);
  }
}
