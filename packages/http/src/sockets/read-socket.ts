import type { Socket } from 'node:net';
import type { CoversAuthority } from '../exchange.ts';
import type { TakeBytes } from '../message/read-buffer.ts';

/** A connection of a caller, and how it is read. */
export interface ReadSocket {
  readonly socket: Socket;
  /** Its remote address, which the system does not know any more after a reset; empty if it is reset already. */
  readonly address: string;
  /** See `CallerConnection`. */
  readonly coversAuthority?: CoversAuthority | undefined;
  /** Sets the reader, and starts to read. The first one must be set in the turn in which the connection was accepted. */
  readonly readBy: (take: TakeBytes) => void;
}
