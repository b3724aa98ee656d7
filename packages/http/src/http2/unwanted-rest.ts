import type { BodyBytes } from '../message/body-bytes.ts';
import { Http2Stream, type StreamSession } from './http2-stream.ts';

/** How long the rest of a request is still read after its response, ms. Late by at most the interval of checks. */
export const REST_TIMEOUT_MS = 1_000;

/** What the rest of a request needs of its session. */
interface RestSession extends StreamSession {
  /** Bytes were dropped: only the window of the connection is given back. */
  read(stream: Http2Stream | undefined, bytes: number): void;
}

/**
 * The rest of a request whose response is complete, in the place of its stream. What arrives of it is dropped. The stream
 * is not reset at once, although RFC 9113 section 8.1 allows it, because some clients lose a response if they read the
 * reset together with it: curl 7.88 does while it sends. The window is not enlarged, so no more arrives than the peer
 * might send when its response was complete.
 */
export class UnwantedRest extends Http2Stream {
  protected override readonly session: RestSession;
  readonly #sinceMs: number;

  /** @param nowMs monotonic */
  constructor({ id, state, window, sendWindow }: Http2Stream, session: RestSession, nowMs: number) {
    super(id, sendWindow);
    this.state = state;
    this.window = window;
    this.session = session;
    this.#sinceMs = nowMs;
  }

  override get isUnwanted(): boolean {
    return true;
  }

  isLate(nowMs: number): boolean {
    return nowMs - this.#sinceMs >= REST_TIMEOUT_MS;
  }

  override received(bytes: BodyBytes): void {
    this.session.read(undefined, bytes.length);
  }

  override writable(): void {
    return undefined;
  }

  override closed(): void {
    return undefined;
  }
}
