import type { Socket } from 'node:net';
import { responseHead } from '../../message/message-writer.ts';
import type { Linger } from './linger.ts';
import type { RefusalReason, ServerOptions } from './options.ts';

/** Sends the response to bytes that are not a request, and ends the connection. */
export function sendRefusal(
  socket: Socket,
  linger: Linger,
  { refusal }: ServerOptions,
  reason: RefusalReason,
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { status, fields, body } = refusal(reason, socket.remoteAddress ?? '');
  linger.begin(responseHead(status, [...fields, 'Connection', 'close']) + body);
}
