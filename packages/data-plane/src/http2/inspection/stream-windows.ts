/** The default of SETTINGS_INITIAL_WINDOW_SIZE, and the largest window (RFC 9113 sections 6.5.2 and 6.9.1). */
const DEFAULT_WINDOW = 65_535;
const MAX_WINDOW = 2 ** 31 - 1;

/** What the caller may be sent on each open stream, so that an update that makes it too large is noticed. */
export class StreamWindows {
  #initial = DEFAULT_WINDOW;
  /** Of each stream on which more may be sent: updates minus sent bytes. */
  readonly #changes = new Map<number, number>();
  #lastStream = 0;
  #accepts = true;

  /** A frame with fields has arrived. It opens a stream if it is the first one. */
  opened(stream: number): void {
    if (stream <= this.#lastStream) return;
    this.#lastStream = stream;
    if (this.#accepts) this.#changes.set(stream, 0);
  }

  /** Whether a stream was not opened yet. */
  isIdle(stream: number): boolean {
    return stream > this.#lastStream;
  }

  /** Whether more may be sent on a stream. */
  isOpen(stream: number): boolean {
    return this.#changes.has(stream);
  }

  /** Nothing more is sent on a stream. */
  closed(stream: number): void {
    this.#changes.delete(stream);
  }

  /** No more streams are accepted. */
  stop(): void {
    this.#accepts = false;
  }

  /** The caller has changed the window of all streams, which it may make too large only for the whole connection. */
  resized(initial: number): void {
    this.#initial = initial;
  }

  /** A part of a body was sent. */
  sent(stream: number, bytes: number): void {
    const change = this.#changes.get(stream);
    if (change !== undefined) this.#changes.set(stream, change - bytes);
  }

  /** The caller has enlarged the window of an open stream. Returns false if it is too large. */
  enlarged(stream: number, bytes: number): boolean {
    const change = (this.#changes.get(stream) ?? 0) + bytes;
    this.#changes.set(stream, change);
    return this.#initial + change <= MAX_WINDOW;
  }
}
