/** RFC 9112 section 7.1: chunk-size in hex, extensions after a semicolon, which nobody may rely on. */
const SIZE_LINE = /^([0-9A-Fa-f]{1,13})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/;
const TRAILER_LINE = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*$/;

const MAX_LINE_BYTES = 4 * 1024;
const MAX_TRAILER_BYTES = 16 * 1024;
const CR = 0x0d;
const LF = 0x0a;

/**
 * Takes a chunked body apart. Extensions and trailers are read, bounded, and dropped (RFC 9112 section
 * 7.1.2 lets a recipient do so).
 */
export class ChunkedDecoder {
  complete = false;
  #state: 'size' | 'data' | 'data_end' | 'trailer' = 'size';
  #line = '';
  #leftBytes = 0;
  #trailerBytes = 0;

  /** Gives how many of the bytes belong to the body, or undefined where they are not well-formed. */
  feed(bytes: Buffer, sink: { body(bytes: Buffer): void }): number | undefined {
    let at = 0;
    while (at < bytes.length && !this.complete) {
      if (this.#state === 'data') {
        const take = Math.min(this.#leftBytes, bytes.length - at);
        sink.body(bytes.subarray(at, at + take));
        at += take;
        this.#leftBytes -= take;
        if (this.#leftBytes === 0) this.#state = 'data_end';
        continue;
      }
      const end = bytes.indexOf(LF, at);
      const stop = end === -1 ? bytes.length : end + 1;
      this.#line += bytes.toString('latin1', at, stop);
      at = stop;
      if (this.#line.length > MAX_LINE_BYTES) return undefined;
      if (end !== -1 && !this.#takeLine()) return undefined;
    }
    return at;
  }

  #takeLine(): boolean {
    const line = this.#line;
    this.#line = '';
    if (line.charCodeAt(line.length - 2) !== CR) return false;
    const text = line.slice(0, -2);
    switch (this.#state) {
      case 'size': {
        const digits = SIZE_LINE.exec(text)?.[1];
        if (digits === undefined) return false;
        this.#leftBytes = Number.parseInt(digits, 16);
        this.#state = this.#leftBytes === 0 ? 'trailer' : 'data';
        return true;
      }
      case 'data_end':
        this.#state = 'size';
        return text === '';
      case 'trailer':
        this.#trailerBytes += line.length;
        this.complete = text === '';
        return (
          this.complete || (this.#trailerBytes <= MAX_TRAILER_BYTES && TRAILER_LINE.test(text))
        );
      case 'data':
        return false;
    }
  }
}
