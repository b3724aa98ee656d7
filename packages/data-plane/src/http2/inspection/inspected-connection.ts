import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { FrameInspector, InspectionError } from './frames.ts';

/** A connection whose frames are inspected before node:http2 reads them. */
export class InspectedConnection<S extends Socket> extends Duplex {
  /** The connection to the caller. */
  readonly socket: S;
  /** Is called once if the connection must end. Nothing more is read from it. */
  onInvalid: (error: InspectionError) => void = () => undefined;

  /** @param maxBlockBytes the largest field block, encoded */
  constructor(socket: S, maxBlockBytes: number) {
    super({ highWaterMark: 64 * 1024 });
    this.socket = socket;
    const inspector = new FrameInspector(maxBlockBytes, (bytes) => {
      if (!this.push(bytes)) socket.pause();
    });
    let isInvalid = false;
    socket.on('data', (bytes: Buffer) => {
      if (isInvalid) return;
      try {
        inspector.receive(bytes);
      } catch (error) {
        // After any error the state is unknown, so nothing that follows may pass.
        isInvalid = true;
        if (!(error instanceof InspectionError)) throw error;
        this.onInvalid(error);
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
    this.socket.write(bytes, callback);
  }

  override _writev(
    chunks: { readonly chunk: Buffer }[],
    callback: (error?: Error | null) => void,
  ): void {
    this.socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), callback);
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.socket.end(callback);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.socket.destroy();
    callback(error);
  }
}
