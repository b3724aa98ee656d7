/** The default of SETTINGS_INITIAL_WINDOW_SIZE, and the largest window (RFC 9113 sections 6.5.2 and 6.9.1). */
const DEFAULT_WINDOW = 65_535;
const MAX_WINDOW = 2 ** 31 - 1;
/** The streams that are remembered after the caller has reset them. */
const MAX_RESET_STREAMS = 100;

interface OpenStream {
  /** Updates of its window minus sent bytes. */
  windowChange: number;
  /** Whether the caller has ended it. */
  isEnded: boolean;
  /** Whether the gateway is about to reset it. */
  hasFailed: boolean;
}

/** The streams on which the gateway may still send: their windows, and whether the caller has ended them. */
export class OpenStreams {
  #initialWindow = DEFAULT_WINDOW;
  readonly #streams = new Map<number, OpenStream>();
  readonly #resetStreams = new Set<number>();
  #lastStream = 0;
  #accepts = true;

  /** A frame with fields has arrived. It opens a stream if it is the first one. */
  opened(stream: number): void {
    if (stream <= this.#lastStream) return;
    this.#lastStream = stream;
    if (this.#accepts)
      this.#streams.set(stream, { windowChange: 0, isEnded: false, hasFailed: false });
  }

  /** Whether a stream was not opened yet. */
  isIdle(stream: number): boolean {
    return stream > this.#lastStream;
  }

  /** Whether the gateway may send more on a stream. */
  isOpen(stream: number): boolean {
    return this.#streams.get(stream)?.hasFailed === false;
  }

  /** The gateway is about to reset a stream. node:http2 may still know it as open. */
  failed(stream: number): void {
    const open = this.#streams.get(stream);
    if (open !== undefined) open.hasFailed = true;
  }

  /** No more streams are accepted. */
  stop(): void {
    this.#accepts = false;
  }

  /** The gateway sends nothing more on a stream. */
  closed(stream: number): void {
    this.#streams.delete(stream);
  }

  /** The caller sends nothing more on a stream. */
  ended(stream: number): void {
    const open = this.#streams.get(stream);
    if (open !== undefined) open.isEnded = true;
  }

  /** The caller has reset a stream. */
  reset(stream: number): void {
    this.#streams.delete(stream);
    if (this.isIdle(stream)) return;
    this.#resetStreams.add(stream);
    const [oldest] = this.#resetStreams;
    if (this.#resetStreams.size > MAX_RESET_STREAMS) this.#resetStreams.delete(oldest ?? 0);
  }

  /**
   * Whether the caller must not send fields or data on a stream any more (RFC 9113 section 5.1). Returns true once for
   * each stream. One that the gateway has closed is not late: its caller may not know that yet.
   */
  isLate(stream: number): boolean {
    if (this.#streams.get(stream)?.isEnded !== true) return this.#resetStreams.delete(stream);
    this.#streams.delete(stream);
    return true;
  }

  /** The caller has changed the window of all streams. If it makes one too large, that is an error of the connection. */
  resized(initialWindow: number): void {
    this.#initialWindow = initialWindow;
  }

  /** A part of a body was sent. */
  sent(stream: number, bytes: number): void {
    const open = this.#streams.get(stream);
    if (open !== undefined) open.windowChange -= bytes;
  }

  /** The caller has enlarged the window of an open stream. Returns false if it is too large. */
  enlarged(stream: number, bytes: number): boolean {
    const open = this.#streams.get(stream);
    if (open === undefined) return true;
    open.windowChange += bytes;
    return this.#initialWindow + open.windowChange <= MAX_WINDOW;
  }
}
