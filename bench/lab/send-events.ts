import type { ServerResponse } from 'node:http';

const INTERVAL_MS = 200;
const EVENT_BYTES = 100;

/**
 * Sends a server-sent event every 200 ms until the caller leaves. An event begins with the time when it is sent, in ms
 * since the Unix epoch. The first is sent at once, the second at a random time within the interval, so that the callers
 * do not get theirs all at the same moment.
 */
export function sendEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = () => {
    const nowMs = performance.timeOrigin + performance.now();
    response.write(`${`data: ${nowMs.toFixed(3)} `.padEnd(EVENT_BYTES - 2, 'e')}\n\n`);
  };
  send();
  let repeating: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    send();
    repeating = setInterval(send, INTERVAL_MS);
  }, Math.random() * INTERVAL_MS);
  response.once('close', () => {
    clearTimeout(first);
    clearInterval(repeating);
  });
}
