import type { Socket } from 'node:net';
import type { BodySource, ClientRequest } from '../../exchange.ts';
import type { BodyBytes } from '../../message/body-bytes.ts';
import {
  chunkSizeLine,
  endOfChunks,
  ENDS_LINE,
  fieldLines,
  UnsendableError,
  writeBody,
} from '../../message/message-writer.ts';

const ABORTED = new Error('the request body was aborted');
/** Methods for which a request without a body still says so (RFC 9110 section 8.6). */
const ANTICIPATES_BODY = new Set(['POST', 'PUT', 'PATCH']);
/** Characters that would end the method or the target of a request line. */
const NOT_VISIBLE = /[^!-\xff]/;

/**
 * Writes a request to a connection (RFC 9112 sections 3 and 6). Its framing is decided only here: one Content-Length or
 * the chunked coding.
 *
 * Returns whether all of it was handed to the socket. Otherwise `done` is called: when a body that streams was, or with
 * the error if it failed or nothing could be written (`UnsendableError`).
 */
export function writeRequest(
  socket: Socket,
  host: string,
  request: ClientRequest,
  done: (error?: Error) => void,
): boolean {
  const { body, contentLength } = request;
  let head: string;
  try {
    head = `${requestLines(host, request)}${connectionLines(request)}${framingLine(request)}\r\n`;
  } catch (error) {
    done(error as Error);
    return false;
  }
  if (body === null) socket.write(head, 'latin1');
  else if (typeof body === 'string' || Buffer.isBuffer(body)) writeBody(socket, body, head);
  else {
    // It failed before its reader was there.
    if (body.ended !== undefined && body.ended !== 'complete') {
      done(ABORTED);
      return false;
    }
    socket.write(head, 'latin1');
    pumpBody(socket, body, contentLength ?? 'chunked', done);
    return false;
  }
  return true;
}

/** @throws UnsendableError if the server would read it differently, for example with a line break in a value */
function requestLines(
  ownHost: string,
  { method, path, host = ownHost, fields, passed }: ClientRequest,
): string {
  if (NOT_VISIBLE.test(method) || NOT_VISIBLE.test(path)) {
    throw new UnsendableError('the method or the target contains a space or a control character');
  }
  let start = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`;
  if (passed !== undefined) for (const { lines } of passed) start += lines;
  return start + fieldLines(fields, ENDS_LINE);
}

/** RFC 9110 sections 7.8 and 10.1.4. */
function connectionLines({ upgrade, takesTrailers }: ClientRequest): string {
  if (upgrade !== undefined) return `connection: Upgrade\r\nupgrade: ${upgrade}\r\n`;
  return takesTrailers === true ? 'connection: TE\r\nte: trailers\r\n' : '';
}

function framingLine({ method, body, contentLength, upgrade }: ClientRequest): string {
  if (upgrade !== undefined) return '';
  if (body === null) return ANTICIPATES_BODY.has(method) ? lengthLine(0) : '';
  if (typeof body === 'string' || Buffer.isBuffer(body)) return lengthLine(body.length);
  return contentLength === undefined ? 'transfer-encoding: chunked\r\n' : lengthLine(contentLength);
}

function lengthLine(bytes: number): string {
  return `content-length: ${bytes}\r\n`;
}

/** Sends bytes that are not HTTP. Their end closes this side of the connection. */
export function sendBytes(socket: Socket, source: BodySource): void {
  pumpBody(socket, source, 'until_close', (error) => {
    if (error === undefined) socket.end();
  });
}

/** Sends a body at the pace of the socket, and checks the announced length. */
function pumpBody(
  socket: Socket,
  body: BodySource,
  framing: number | 'chunked' | 'until_close',
  done: (error?: Error) => void,
): void {
  const length = typeof framing === 'number' ? framing : undefined;
  let sentBytes = 0;
  let over = false;
  const finish = (error?: Error) => {
    if (over) return;
    over = true;
    socket.off('drain', onDrain).off('close', onClose);
    done(error);
  };
  const onDrain = () => {
    body.resume();
  };
  const onClose = () => {
    finish();
    body.discard();
  };
  socket.on('drain', onDrain).once('close', onClose);
  body.start({
    data(bytes, last, trailers) {
      if (over) return;
      sentBytes += bytes.length;
      if (length !== undefined && (sentBytes > length || (last && sentBytes < length))) {
        finish(new Error('the request body has not the announced length'));
        return;
      }
      const more =
        framing === 'chunked'
          ? writeChunk(socket, bytes, last ? endOfChunks(trailers) : '')
          : writeBody(socket, bytes);
      if (last) finish();
      else if (!more) body.pause();
    },
    failed() {
      finish(ABORTED);
    },
  });
}

/** @param end the end of the body; empty: more follows */
function writeChunk(socket: Socket, bytes: BodyBytes, end: string): boolean {
  if (bytes.length === 0) return end === '' || socket.write(end, 'latin1');
  return writeBody(socket, bytes, chunkSizeLine(bytes.length), `\r\n${end}`);
}
