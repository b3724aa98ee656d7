import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { BodyBytes } from '../message/body-bytes.ts';

/** A request to send. */
export interface ClientRequest {
  readonly method: string;
  /** The target of the request line. */
  readonly path: string;
  /** Name, value, name, value: without Host and without framing, which are made when it is sent. */
  readonly headers: readonly string[];
  readonly body: BodyBytes | Readable | null;
  /** Of a body that streams: its length, or undefined where it is sent in chunks. */
  readonly contentLength: number | undefined;
  /**
   * The protocol to switch to, in lower case, such as `websocket`; undefined for a plain request. After a response
   * with the status 101 the bytes of the new protocol are its body. Only for a request without a body.
   */
  readonly upgrade?: string | undefined;
}

/** Up to this size a body is joined to the head, so that both go out in one write. */
const JOINED_BODY_BYTES = 16 * 1024;

const GIVEN_UP = new Error('the body was given up');

/** Methods for which a request without a body still says so (RFC 9110 section 8.6). */
const ANTICIPATES_BODY = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Writes a request to a connection (RFC 9112 sections 3 and 6). The framing is made here and nowhere
 * else: one Content-Length or one chunked coding.
 *
 * `done` is called when all of it was handed to the socket, or with the error where the body broke off
 * or nothing could be written.
 */
export function writeRequest(
  socket: Socket,
  host: string,
  request: ClientRequest,
  done: (error?: Error) => void,
): void {
  const { body } = request;
  if (!isWritable(request)) {
    done(new UnsendableError());
    return;
  }
  if (body === null || typeof body === 'string' || Buffer.isBuffer(body)) {
    const head = headText(
      host,
      request,
      body === null ? emptyFraming(request) : lengthField(body.length),
    );
    if (body === null) socket.write(head, 'latin1');
    else if (typeof body === 'string') socket.write(head + body, 'latin1');
    else if (body.length <= JOINED_BODY_BYTES) {
      socket.write(head + body.toString('latin1'), 'latin1');
    } else {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body);
      socket.uncork();
    }
    done();
    return;
  }
  // It tells nobody a second time.
  if (body.destroyed) {
    done(GIVEN_UP);
    return;
  }
  const length = request.contentLength;
  const framing = length === undefined ? 'transfer-encoding: chunked\r\n' : lengthField(length);
  socket.write(headText(host, request, framing), 'latin1');
  pumpBody(socket, body, length, done);
}

function headText(host: string, request: ClientRequest, framing: string): string {
  const { headers } = request;
  let text = `${request.method} ${request.path} HTTP/1.1\r\nhost: ${host}\r\n`;
  for (let index = 0; index < headers.length; index += 2) {
    // From the left, piece by piece: such a text is copied into the socket's buffer fastest.
    text = text + (headers[index] ?? '') + ': ' + (headers[index + 1] ?? '') + '\r\n';
  }
  return `${text}${framing}\r\n`;
}

const LINE_BREAK = /[\r\n]/;
const NOT_VISIBLE = /[^!-\xff]/;

/**
 * The parser in front has refused line breaks already; one that came through would be an injection. Names
 * are not looked at again: each was found to be a token where it was read, in a head or in the configuration.
 */
function isWritable(request: ClientRequest): boolean {
  const { headers } = request;
  for (let index = 1; index < headers.length; index += 2) {
    if (LINE_BREAK.test(headers[index] ?? '')) return false;
  }
  return !NOT_VISIBLE.test(request.method) && !NOT_VISIBLE.test(request.path);
}

/** A request that could not be written without becoming two. */
export class UnsendableError extends Error {
  override readonly name = 'UnsendableError';
  override readonly message = 'the head of the request holds a line break or a space out of place';
}

function lengthField(bytes: number): string {
  return `content-length: ${bytes}\r\n`;
}

/** Of a request without a body. One that asks for an upgrade says so with it (RFC 9110 section 7.8). */
function emptyFraming(request: ClientRequest): string {
  const { upgrade } = request;
  if (upgrade !== undefined) return `connection: Upgrade\r\nupgrade: ${upgrade}\r\n`;
  return ANTICIPATES_BODY.has(request.method) ? 'content-length: 0\r\n' : '';
}

/** Sends a body at the pace of the socket, and holds it to the length that was announced. */
function pumpBody(
  socket: Socket,
  body: Readable,
  length: number | undefined,
  done: (error?: Error) => void,
): void {
  let sentBytes = 0;
  const onData = (chunk: Buffer) => {
    sentBytes += chunk.length;
    if (length !== undefined && sentBytes > length) {
      finish(new Error('the body is longer than announced'));
      return;
    }
    if (chunk.length === 0) return;
    let more: boolean;
    if (length === undefined) {
      socket.cork();
      socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1');
      socket.write(chunk);
      more = socket.write('\r\n', 'latin1');
      socket.uncork();
    } else {
      more = socket.write(chunk);
    }
    if (!more) body.pause();
  };
  const onDrain = () => {
    body.resume();
  };
  const onEnd = () => {
    if (length !== undefined && sentBytes < length) {
      finish(new Error('the body is shorter than announced'));
      return;
    }
    if (length === undefined) socket.write('0\r\n\r\n', 'latin1');
    finish();
  };
  const onError = (error: Error) => {
    finish(error);
  };
  const onClose = () => {
    finish(GIVEN_UP);
  };
  let over = false;
  const finish = (error?: Error) => {
    if (over) return;
    over = true;
    body.off('data', onData).off('end', onEnd).off('close', onClose);
    socket.off('drain', onDrain).off('close', stop);
    done(error);
  };
  const stop = () => {
    finish();
    body.destroy();
  };
  socket.on('drain', onDrain).once('close', stop);
  // The error listener stays: a body that is given up later must not end the process.
  body.on('error', onError).on('end', onEnd).on('close', onClose).on('data', onData);
}
