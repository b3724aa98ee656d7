import type { Socket } from 'node:net';

/** Receives bytes that have arrived, valid until the call returns. */
export type TakeBytes = (bytes: Buffer) => void;

/** A connection of a caller, and how it is read. */
export interface ReadSocket {
  readonly socket: Socket;
  /** Sets the reader. With undefined the socket is paused, and can be read like any stream. */
  readonly readBy: (take: TakeBytes | undefined) => void;
}
