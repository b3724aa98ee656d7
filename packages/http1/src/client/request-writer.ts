import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { HeaderFields } from '../fields/header-fields.ts';
import type { BodyBytes } from '../message/body-bytes.ts';
import {
  chunkSizeLine,
  ENDS_LINE,
  headLines,
  LAST_CHUNK,
  UnsendableError,
} from '../message/message-writer.ts';
import { writeBody } from '../message/write-body.ts';

/** A request to send. */
export interface ClientRequest {
  readonly method: string;
  /** The target of the request line. */
  readonly path: string;
  /** Without Host and framing, which are added when it is sent. */
  readonly fields: HeaderFields;
  readonly body: BodyBytes | Readable | null;
  /** The length of a body that streams; undefined if it is sent in chunks. */
  readonly contentLength: number | undefined;
  /**
   * The protocol to switch to, in lower case, such as `websocket`; undefined for a plain request. After a response with
   * the status 101 the bytes of the new protocol are its body. Only for a request without a body.
   */
  readonly upgrade?: string | undefined;
}

const ABORTED = new Error('the request body was aborted');
/** Methods for which a request without a body still says so (RFC 9110 section 8.6). */
const ANTICIPATES_BODY = new Set(['POST', 'PUT', 'PATCH']);
/** Characters that would end the method or the target of a request line. */
const NOT_VISIBLE = /[^!-\xff]/;

/**
 * Writes a request to a connection (RFC 9112 sections 3 and 6). Its framing is decided only here: one Content-Length or
 * the chunked coding.
 *
 * `done` is called when all of it was handed to the socket, or with the error if the body failed or nothing could be
 * written (`UnsendableError`).
 */
export function writeRequest(
  socket: Socket,
  host: string,
  request: ClientRequest,
  done: (error?: Error) => void,
): void {
  const { body, contentLength } = request;
  let head: string;
  try {
    head = `${requestLines(host, request)}${framingLine(request)}\r\n`;
  } catch (error) {
    done(error as Error);
    return;
  }
  if (body === null) socket.write(head, 'latin1');
  else if (typeof body === 'string' || Buffer.isBuffer(body)) writeBody(socket, body, head);
  else {
    // A destroyed stream emits nothing.
    if (body.destroyed) {
      done(ABORTED);
      return;
    }
    socket.write(head, 'latin1');
    pumpBody(socket, body, contentLength, done);
    return;
  }
  done();
}

/** @throws UnsendableError if the server would read it differently, for example with a line break in a value */
function requestLines(host: string, { method, path, fields }: ClientRequest): string {
  if (NOT_VISIBLE.test(method) || NOT_VISIBLE.test(path)) {
    throw new UnsendableError('the method or the target contains a space or a control character');
  }
  return headLines(`${method} ${path} HTTP/1.1\r\nhost: ${host}`, fields, ENDS_LINE);
}

function framingLine({ method, body, contentLength, upgrade }: ClientRequest): string {
  // RFC 9110 section 7.8.
  if (upgrade !== undefined) return `connection: Upgrade\r\nupgrade: ${upgrade}\r\n`;
  if (body === null) return ANTICIPATES_BODY.has(method) ? lengthLine(0) : '';
  if (typeof body === 'string' || Buffer.isBuffer(body)) return lengthLine(body.length);
  return contentLength === undefined ? 'transfer-encoding: chunked\r\n' : lengthLine(contentLength);
}

function lengthLine(bytes: number): string {
  return `content-length: ${bytes}\r\n`;
}

/** Sends a body at the pace of the socket, and checks the announced length. */
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
      finish(new Error('the request body is longer than announced'));
      return;
    }
    if (chunk.length === 0) return;
    const more =
      length === undefined
        ? writeBody(socket, chunk, chunkSizeLine(chunk.length), '\r\n')
        : writeBody(socket, chunk);
    if (!more) body.pause();
  };
  const onDrain = () => {
    body.resume();
  };
  const onEnd = () => {
    if (length !== undefined && sentBytes < length) {
      finish(new Error('the request body is shorter than announced'));
      return;
    }
    if (length === undefined) socket.write(LAST_CHUNK, 'latin1');
    finish();
  };
  const onError = (error: Error) => {
    finish(error);
  };
  const onClose = () => {
    finish(ABORTED);
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
  // The error listener stays: a body that is aborted later must not end the process.
  body.on('error', onError).on('end', onEnd).on('close', onClose).on('data', onData);
}
