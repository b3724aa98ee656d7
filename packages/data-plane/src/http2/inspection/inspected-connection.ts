import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { ConnectionGuard } from '@gateway/http/connection-guard';
import { FrameInspector, resetFrame } from './frames.ts';
import { InspectionError } from './inspection-error.ts';
import { SentFrames } from './sent-frames.ts';
import { OpenStreams } from './open-streams.ts';

const UNSENT = new Error('the frames were not sent');

/** A connection whose frames are inspected before node:http2 reads them. */
export class InspectedConnection<S extends Socket> extends Duplex {
  /** The connection to the caller. */
  readonly socket: S;
  /** Called once when the connection must end. Later bytes are ignored. */
  onInvalid: (error: InspectionError) => void = () => undefined;
  /** Is called if a stream must be reset. It may not be open yet in node:http2. */
  onReset: (stream: number, code: number) => void = () => undefined;
  /** Is called if GOAWAY with an error was sent. */
  onGoAway: () => void = () => undefined;
  /** Whether GOAWAY with an error was sent. */
  hasSentGoAway = false;
  readonly #sentFrames: SentFrames;
  readonly #guard: ConnectionGuard;

  /** @param maxBlockBytes the largest field block, encoded */
  constructor(socket: S, maxBlockBytes: number, guard: ConnectionGuard) {
    super({ highWaterMark: 64 * 1024 });
    this.socket = socket;
    this.#guard = guard;
    // Its listeners are those of node:http2.
    guard.events(this);
    const streams = new OpenStreams();
    this.#sentFrames = new SentFrames(streams, () => {
      this.hasSentGoAway = true;
      this.onGoAway();
    });
    const inspector = new FrameInspector(
      maxBlockBytes,
      streams,
      (bytes) => {
        if (!this.push(bytes)) socket.pause();
      },
      (stream, code) => {
        this.onReset(stream, code);
      },
      (stream) => {
        if (this.#sentFrames.isBetweenFrames) socket.write(resetFrame(stream));
      },
    );
    let isInvalid = false;
    socket.on('data', (bytes: Buffer) => {
      if (isInvalid) return;
      try {
        inspector.receive(bytes);
      } catch (error) {
        // After any error the state is unknown, so nothing that follows may pass.
        isInvalid = true;
        if (error instanceof InspectionError) this.onInvalid(error);
        else guard.fail(error);
      }
    });
    socket.on('end', () => this.push(null));
    socket.on('error', (error: Error) => this.destroy(error));
    socket.on('close', () => this.destroy());
    socket.pause();
  }

  override _read(): void {
    this.socket.resume();
  }

  override _write(
    bytes: Buffer,
    _encoding: string,
    callback: (error?: Error | null) => void,
  ): void {
    this.#send(bytes, callback);
  }

  override _writev(
    chunks: { readonly chunk: Buffer }[],
    callback: (error?: Error | null) => void,
  ): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)), callback);
  }

  #send(bytes: Buffer, callback: (error?: Error | null) => void): void {
    try {
      this.#sentFrames.sent(bytes);
      this.socket.write(bytes, callback);
    } catch (error) {
      this.#guard.fail(error);
      callback(UNSENT);
    }
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.socket.end(callback);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.socket.destroy();
    callback(error);
  }
}
