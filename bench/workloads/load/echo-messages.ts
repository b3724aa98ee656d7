import { once } from 'node:events';
import { WebSocket } from 'ws';
import { outcomeOf, type LoadOutcome } from '../../measure/round.ts';

export interface EchoLoad {
  /** Of the proxied route, with http. */
  readonly url: string;
  readonly authorization: string;
  readonly bytes: number;
  /** Over all connections together. */
  readonly messages: number;
  readonly connections: number;
  readonly signal: AbortSignal;
}

/** Sends messages to an upstream that sends them back, the next one when the one before is back. */
export async function echoMessages(load: EchoLoad): Promise<LoadOutcome> {
  const { authorization, bytes, signal } = load;
  const message = Buffer.alloc(bytes, 'm');
  const sockets = Array.from({ length: load.connections }, () => {
    const url = `${load.url.replace('http', 'ws')}/echo`;
    const socket = new WebSocket(url, { headers: { authorization }, perMessageDeflate: false });
    // A socket that is ended while it opens reports that.
    return socket.on('error', () => undefined);
  });
  const terminate = () => {
    for (const socket of sockets) socket.terminate();
  };
  signal.addEventListener('abort', terminate);
  const timesUs: number[] = [];
  let left = load.messages;
  let failed = 0;
  const exchange = async (socket: WebSocket) => {
    while (left > 0) {
      left -= 1;
      const sentMs = performance.now();
      const back = nextMessage(socket);
      socket.send(message);
      if ((await back).length !== bytes) failed += 1;
      timesUs.push((performance.now() - sentMs) * 1000);
    }
  };
  try {
    await Promise.all(sockets.map((socket) => once(socket, 'open', { signal })));
    const startMs = performance.now();
    await Promise.all(sockets.map(exchange));
    return outcomeOf(timesUs, failed, performance.now() - startMs);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', terminate);
    terminate();
  }
}

function nextMessage(socket: WebSocket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const onClose = () => reject(new Error('the WebSocket was closed'));
    socket.once('close', onClose);
    socket.once('message', (data) => {
      socket.off('close', onClose);
      resolve(data as Buffer);
    });
  });
}
