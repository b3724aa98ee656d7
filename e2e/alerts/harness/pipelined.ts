import { once } from 'node:events';
import { connect } from 'node:net';

const AT_ONCE = 500;
const STATUS = /HTTP\/1\.1 \d/g;
const STATUS_BEGINNING = 'HTTP/1.1 '.length;

/**
 * Sends `count` requests over one connection, each without waiting for the response to the former one: a test that needs a
 * hundred thousand of them has them within seconds.
 *
 * @param head the request line and headers of the n-th request, without a body
 */
export async function sendPipelined(
  port: number,
  count: number,
  head: (index: number) => string,
): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.setEncoding('latin1');
  let sent = 0;
  const sendMore = () => {
    const heads = Array.from({ length: AT_ONCE }, (_, index) => head(sent + index));
    socket.write(heads.join(''));
    sent += AT_ONCE;
  };
  let answered = 0;
  let unfinished = '';
  sendMore();
  for await (const chunk of socket) {
    const text = unfinished + String(chunk);
    answered += text.match(STATUS)?.length ?? 0;
    // It may contain the beginning of a status line, but no whole one.
    unfinished = text.slice(-STATUS_BEGINNING);
    if (answered < sent) continue;
    if (sent >= count) return;
    sendMore();
  }
  throw new Error(`the connection ended after ${answered} responses`);
}
