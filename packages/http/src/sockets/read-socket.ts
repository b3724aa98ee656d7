import type { Socket } from 'node:net';

/** Receives bytes that have arrived, valid until the call returns. */
export type TakeBytes = (bytes: Buffer) => void;

/** A connection of a caller, and how it is read. */
export interface ReadSocket {
  readonly socket: Socket;
  /** Its remote address, which the system does not know any more after a reset; empty if it is reset already. */
  readonly address: string;
  /** Sets the reader. With undefined the socket is paused, and can be read like any stream. */
  readonly readBy: (take: TakeBytes | undefined) => void;
}
