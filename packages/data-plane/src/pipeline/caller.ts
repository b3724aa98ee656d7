import type { Socket } from 'node:net';

/**
 * What the data path needs of a caller's request. One of node:http is that as it stands; one of HTTP/2
 * is made into it (server/http2/request.ts).
 */
export interface CallerRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly httpVersion: string;
  /** Name, value, name, value, as they came. */
  readonly rawHeaders: string[];
  /** Whether all of it has arrived. */
  readonly complete: boolean;
  readonly readableEnded: boolean;
  /** The connection; with HTTP/2 it is that of other requests too, and must not be cut for one. */
  readonly socket: Socket;
  on(event: 'data' | 'end' | 'close' | 'error', listener: (chunk: Buffer) => void): this;
  once(event: 'end' | 'close', listener: () => void): this;
  off(event: 'data' | 'end' | 'close' | 'error', listener: (chunk: Buffer) => void): this;
  pause(): this;
  resume(): this;
  isPaused(): boolean;
}

type EndResponse = (() => unknown) &
  ((chunk: Buffer | string) => unknown) &
  ((chunk: Buffer | string, encoding: 'latin1') => unknown);

/** What the data path needs of the response to a caller; that of node:http is one. */
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
