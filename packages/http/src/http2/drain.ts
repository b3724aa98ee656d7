import type { ControlFrames } from './frame-writer.ts';
import { MAX_STREAM_ID, PING } from './protocol.ts';

/** How a connection goes away without an error (RFC 9113 section 6.8). */
export class Drain {
  /** `announced`: the peer knows that it should open no more streams, and does not know which one is the last. */
  #step: 'no' | 'when_idle' | 'announced' | 'final' = 'no';
  /** No stream above it is handled. */
  lastHandled = MAX_STREAM_ID;

  /** Whether the connection closes when it has no stream. */
  get closesWhenIdle(): boolean {
    return this.#step === 'when_idle' || this.#step === 'final';
  }

  get isBegun(): boolean {
    return this.#step !== 'no';
  }

  /** The connection closes when it has no stream. Until then requests are accepted. */
  begin(): void {
    if (this.#step === 'no') this.#step = 'when_idle';
  }

  /** Asks the peer to open no more streams. Returns false if it was asked before. */
  announce(control: ControlFrames): boolean {
    if (this.#step === 'announced' || this.#step === 'final') return false;
    this.#step = 'announced';
    control.goAway(MAX_STREAM_ID);
    // Its reply arrives after all streams that the peer opened before it has read this.
    control.ping(PING.goAway);
    return true;
  }

  /** The peer knows. Names the last stream. Returns false if the peer was not asked. */
  finish(control: ControlFrames, lastStream: number): boolean {
    if (this.#step !== 'announced') return false;
    this.#step = 'final';
    this.lastHandled = lastStream;
    control.goAway(lastStream);
    return true;
  }
}
