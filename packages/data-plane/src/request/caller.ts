import type { Socket } from 'node:net';
import type { ConnectionGuard, EndReason } from '@gateway/http1/connection-guard';
import type { HeaderFields } from '@gateway/http1/fields/header-fields';
import type { BodyBytes } from '@gateway/http1/message/body-bytes';
import type { BodyFraming } from '@gateway/http1/message/framing';

/** What the data path needs of a caller's request, in any version of HTTP. */
export interface CallerRequest {
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  /** As they came. */
  readonly fields: HeaderFields;
  readonly framing: BodyFraming;
  /** Whether all of it has arrived. */
  readonly complete: boolean;
  readonly readableEnded: boolean;
  /**
   * Why the request ended early; undefined if it did not. After that it emits no event. If its body is `malformed` the
   * caller is still there and needs an answer.
   */
  readonly lost: 'left' | 'malformed' | undefined;
  /** The connection. In HTTP/2 other requests share it, so it must not be closed for one. */
  readonly socket: Socket;
  /** The guard of the connection. */
  readonly guard: ConnectionGuard;
  /** A chunk of `data` is valid until the listener returns. */
  on(event: 'data' | 'end' | 'close' | 'error', listener: (chunk: Buffer) => void): this;
  once(event: 'end' | 'close', listener: () => void): this;
  off(event: 'data' | 'end' | 'close' | 'error', listener: (chunk: Buffer) => void): this;
  pause(): this;
  resume(): this;
  isPaused(): boolean;
  /**
   * Returns the whole body if it has arrived completely, is not longer than `maxBytes` and was not read before. The
   * request has then ended and emits nothing.
   */
  takeWhole(maxBytes: number): BodyBytes | undefined;
  /** Nobody wants the rest of the body: it is read and dropped, slowly. */
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
  /** Why the gateway ended the response or its connection, if it did so before the response was complete. */
  readonly endReason: EndReason | undefined;
  writeContinue(): void;
  writeHead(status: number, fields: HeaderFields): unknown;
  writeHead(status: number, statusText: string, fields: HeaderFields): unknown;
  flushHeaders(): void;
  /**
   * A chunk may lie in the read buffer, which the next read overwrites: `write` and `end` copy what they do not send at
   * once. If `write` returns false, the caller does not read fast enough. Then wait for `drain`.
   */
  write(chunk: Buffer | string, encoding: 'latin1'): boolean;
  readonly end: EndResponse;
  once(event: 'drain' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /**
   * Ends the response so that it cannot look complete.
   *
   * @param reason the gateway's own reason, unless the caller has left or the upstream broke off
   */
  destroy(reason?: EndReason): unknown;
}

/** The caller left before it got a response, so none is sent. */
export class ClientLeftError extends Error {
  override readonly name = 'ClientLeftError';
}
