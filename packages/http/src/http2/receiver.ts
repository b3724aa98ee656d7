import type { Bodies } from './bodies.ts';
import { readUint31, readUint32, type FrameHandler } from './frame-reader.ts';
import { HeaderBlocks, PRIORITY_BYTES, type BlockHandler } from './header-blocks.ts';
import type { Http2Session } from './http2-session.ts';
import type { Http2Stream } from './http2-stream.ts';
import { ERROR, FLAG, FRAME, MAX_WINDOW, PING } from './protocol.ts';
import { EVENT } from './stream-state.ts';

/** Handles the frames that a connection receives (RFC 9113 section 6). */
export class Receiver {
  readonly #session: Http2Session;
  readonly #bodies: Bodies;
  readonly #blocks: HeaderBlocks;
  /** How many frames have arrived, without pings. */
  frames = 0;
  #hasSettings = false;
  /** Whether the peer has acknowledged the settings of this end, which are sent once. */
  #isAcknowledged = false;

  /** @param block takes the header blocks of all messages */
  constructor(session: Http2Session, bodies: Bodies, block: BlockHandler) {
    this.#session = session;
    this.#bodies = bodies;
    this.#blocks = new HeaderBlocks(session, block);
  }

  /** Sends the settings of this end, and what the peer may send beyond them. */
  begin(): void {
    const { sender, deadlines, clock, flow, ownSettings } = this.#session;
    sender.control.settings([...ownSettings, flow.setting]);
    flow.begin();
    deadlines.awaitsSettings(clock.monotonicMs());
  }

  /** Handles a frame. */
  readonly frame: FrameHandler = (type, flags, id, bytes, start, end) => {
    const error = this.#frame(type, flags, id, bytes, start, end);
    if (error !== ERROR.noError) this.#session.fail(error);
  };

  /** A read was handled; its bytes are valid until this returns. */
  endOfRead(): void {
    this.#bodies.endOfRead();
  }

  /** Returns the error of the connection, or NO_ERROR, like all methods for frames. */
  #frame(
    type: number,
    flags: number,
    id: number,
    bytes: Buffer,
    start: number,
    end: number,
  ): number {
    if (!this.#hasSettings) {
      // RFC 9113 section 3.4: the preface ends with settings.
      if (type !== FRAME.settings || (flags & FLAG.ack) !== 0) return ERROR.protocolError;
      this.#hasSettings = true;
      this.#session.deadlines.hasPreface();
    }
    if (type !== FRAME.ping) this.frames += 1;
    const pending = this.#blocks.pending;
    if (pending !== undefined && (type !== FRAME.continuation || id !== pending)) {
      return ERROR.protocolError;
    }
    switch (type) {
      case FRAME.data:
        return this.#bodies.data(flags, id, bytes, start, end);
      case FRAME.headers:
        return this.#blocks.headers(flags, id, bytes, start, end);
      case FRAME.continuation:
        return this.#blocks.continuation(flags, bytes, start, end);
      case FRAME.windowUpdate:
        return this.#windowUpdate(id, bytes, start, end);
      case FRAME.rstStream:
        return this.#rstStream(id, bytes, start, end);
      case FRAME.settings:
        return this.#settings(flags, id, bytes, start, end);
      case FRAME.ping:
        return this.#ping(flags, id, bytes, start, end);
      case FRAME.priority:
        return this.#priority(id, bytes, start, end);
      case FRAME.goAway:
        return this.#goAway(id, bytes, start, end);
      case FRAME.pushPromise:
        return ERROR.protocolError;
      default:
        this.#session.count('unknown');
        return ERROR.noError;
    }
  }

  #windowUpdate(id: number, bytes: Buffer, start: number, end: number): number {
    if (end - start !== 4) return ERROR.frameSizeError;
    const session = this.#session;
    const { sender } = session;
    const increment = readUint31(bytes, start);
    session.count('windowUpdate');
    if (id === 0) {
      if (increment === 0) return ERROR.protocolError;
      sender.window += increment;
      return sender.window > MAX_WINDOW ? ERROR.flowControlError : ERROR.noError;
    }
    const outcome = session.refuseEvent(id, session.streams.stateOf(id), EVENT.receiveWindow);
    const stream = session.streams.open.get(id);
    if (outcome !== undefined || stream === undefined) return outcome ?? ERROR.noError;
    if (increment === 0) session.reset(stream, ERROR.protocolError, 'malformed');
    else this.#enlarge(stream, increment);
    return ERROR.noError;
  }

  /** A window that is too large is an error of the stream (RFC 9113 section 6.9.1). */
  #enlarge(stream: Http2Stream, change: number): void {
    stream.sendWindow += change;
    if (stream.sendWindow > MAX_WINDOW) {
      this.#session.reset(stream, ERROR.flowControlError, 'malformed');
    } else if (stream.isPending) this.#session.changed(stream);
  }

  #rstStream(id: number, bytes: Buffer, start: number, end: number): number {
    if (end - start !== 4) return ERROR.frameSizeError;
    if (id === 0) return ERROR.protocolError;
    const session = this.#session;
    const outcome = session.refuseEvent(id, session.streams.stateOf(id), EVENT.receiveReset);
    const stream = session.streams.open.get(id);
    if (outcome !== undefined || stream === undefined) return outcome ?? ERROR.noError;
    this.#bodies.passOn(stream);
    session.resetByPeer(stream, readUint32(bytes, start));
    return ERROR.noError;
  }

  #settings(flags: number, id: number, bytes: Buffer, start: number, end: number): number {
    if (id !== 0) return ERROR.protocolError;
    const session = this.#session;
    session.count('settings');
    if ((flags & FLAG.ack) !== 0) {
      if (end > start) return ERROR.frameSizeError;
      if (this.#isAcknowledged) return ERROR.protocolError;
      this.#isAcknowledged = true;
      session.deadlines.hasSettings();
      session.flow.roundTripHasEnded(session.streams.open.values());
      return ERROR.noError;
    }
    const { peer, sender } = session;
    const { initialWindow } = peer;
    const error =
      peer.apply(bytes, start, end, session.peerIsServer) || this.#changeWindows(initialWindow);
    if (error !== ERROR.noError) return error;
    sender.control.add(FRAME.settings, FLAG.ack, 0);
    session.reply();
    session.settingsHaveChanged();
    return ERROR.noError;
  }

  /** A window that is too large is an error of the connection here (RFC 9113 section 6.9.2). */
  #changeWindows(formerInitial: number): number {
    const session = this.#session;
    const change = session.peer.initialWindow - formerInitial;
    if (change === 0) return ERROR.noError;
    for (const stream of session.streams.open.values()) {
      if (stream.sendWindow + change > MAX_WINDOW) return ERROR.flowControlError;
      this.#enlarge(stream, change);
    }
    return ERROR.noError;
  }

  #ping(flags: number, id: number, bytes: Buffer, start: number, end: number): number {
    if (id !== 0) return ERROR.protocolError;
    if (end - start !== 8) return ERROR.frameSizeError;
    const session = this.#session;
    if ((flags & FLAG.ack) !== 0) {
      if (!this.#pingIsAnswered(readUint32(bytes, start + 4))) session.count('ping');
      return ERROR.noError;
    }
    session.count('ping');
    session.sender.control.pong(bytes, start);
    session.reply();
    return ERROR.noError;
  }

  /** Returns false if no such ping was sent. */
  #pingIsAnswered(question: number): boolean {
    const session = this.#session;
    if (question !== PING.roundTrip) return session.pingIsAnswered(question);
    return session.flow.roundTripHasEnded(session.streams.open.values());
  }

  /** Priorities have no effect (RFC 9113 section 5.3.2), but malformed ones are refused. */
  #priority(id: number, bytes: Buffer, start: number, end: number): number {
    if (id === 0) return ERROR.protocolError;
    const session = this.#session;
    session.count('priority');
    const isSizeWrong = end - start !== PRIORITY_BYTES;
    if (!isSizeWrong && readUint31(bytes, start) !== id) return ERROR.noError;
    const code = isSizeWrong ? ERROR.frameSizeError : ERROR.protocolError;
    const stream = session.streams.open.get(id);
    if (stream === undefined) session.resetId(id, code);
    else session.reset(stream, code, 'malformed');
    return ERROR.noError;
  }

  #goAway(id: number, bytes: Buffer, start: number, end: number): number {
    if (id !== 0) return ERROR.protocolError;
    if (end - start < 8) return ERROR.frameSizeError;
    const session = this.#session;
    session.count('goAway');
    session.peerGoesAway(readUint31(bytes, start));
    return ERROR.noError;
  }
}
