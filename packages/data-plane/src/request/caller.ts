import type { Socket } from 'node:net';
import type { BodyBytes } from '@gateway/http1/message/body-bytes';

/** What the data path needs of a caller's request, of whichever version of HTTP. */
export interface CallerRequest {
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  /** Name, value, name, value, as they came. */
  readonly rawHeaders: string[];
  /** Whether all of it has arrived. */
  readonly complete: boolean;
  readonly readableEnded: boolean;
  /**
   * Why no more of it comes, where it broke off before all of it was here, or was read: it emits nothing any
   * more then. Where its body is `malformed` the caller is still there, and is to be answered.
   */
  readonly lost: 'left' | 'malformed' | undefined;
  /** The connection; with HTTP/2 it is that of other requests too, and must not be cut for one. */
  readonly socket: Socket;
  on(event: 'data' | 'end' | 'close' | 'error', listener: (chunk: Buffer) => void): this;
  once(event: 'end' | 'close', listener: () => void): this;
  off(event: 'data' | 'end' | 'close' | 'error', listener: (chunk: Buffer) => void): this;
  pause(): this;
  resume(): this;
  isPaused(): boolean;
  /**
   * All of the body at once, where it is here, at most so long, and nobody has begun to read it. The
   * request then is at its end, and emits nothing.
   */
  takeWhole(maxBytes: number): BodyBytes | undefined;
  /** Nobody wants what is left of the body: it is read and dropped, and slowly. */
  dropRest(): void;
}

type EndResponse = (() => unknown) &
  ((chunk: Buffer | string) => unknown) &
  ((chunk: Buffer | string, encoding: 'latin1') => unknown);

/** What the data path needs of the response to a caller. */
export interface CallerResponse {
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  /** Whether all of the response went out. */
  readonly writableFinished: boolean;
  writeContinue(): void;
  writeHead(status: number, fields: string[]): unknown;
  writeHead(status: number, statusText: string, fields: string[]): unknown;
  flushHeaders(): void;
  /** Gives false where the caller takes no more at present, until `drain`. */
  write(chunk: Buffer | string, encoding: 'latin1'): boolean;
  readonly end: EndResponse;
  once(event: 'drain' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Ends the response so that it cannot look complete. */
  destroy(): unknown;
}

/** The caller left before it was answered, so there is nobody to answer. */
export class ClientLeftError extends Error {
  override readonly name = 'ClientLeftError';
}
