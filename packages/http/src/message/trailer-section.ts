import type { HeaderFields } from '../fields/header-fields.ts';
import { trimmed } from '../fields/parse-field-lines.ts';

/** What the fields of a head, and those of a trailer section, may be. */
export interface HeadLimits {
  /** The size of a head, with its start line and all line ends; of a trailer section with all line ends. */
  readonly maxHeaderBytes: number;
  readonly maxHeaderLines: number;
}

const TRAILER_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[\t\x20-\x7e\x80-\xff]*$/;
/** RFC 9110 section 6.5.1: a recipient that applied them would see another end of the message. */
const FRAMING_FIELDS = new Set(['content-length', 'transfer-encoding']);

/** Reads the lines after the last chunk of a body (RFC 9112 section 7.1.2). It is bounded as a head is. */
export class TrailerSection {
  readonly #fields: string[] = [];
  readonly #strict: boolean;
  readonly #limits: HeadLimits;
  #bytes = 0;
  #lines = 0;

  /** @param strict refuses fields that frame a message; otherwise they are ignored */
  constructor(strict: boolean, limits: HeadLimits) {
    this.#strict = strict;
    this.#limits = limits;
  }

  /** Those that do not frame a message; undefined: there is none. */
  get found(): HeaderFields | undefined {
    return this.#fields.length > 0 ? this.#fields : undefined;
  }

  /** Whether so many bytes more are within the limit. */
  hasRoom(bytes: number): boolean {
    return this.#bytes + bytes <= this.#limits.maxHeaderBytes;
  }

  /** Reads a line without its end. Returns false if it is malformed, or above a limit. */
  add(line: string): boolean {
    this.#bytes += line.length + 2;
    this.#lines += 1;
    if (!this.hasRoom(0) || this.#lines > this.#limits.maxHeaderLines) return false;
    const name = TRAILER_LINE.exec(line)?.[1];
    if (name === undefined) return false;
    if (FRAMING_FIELDS.has(name.toLowerCase())) return !this.#strict;
    this.#fields.push(name, trimmed(line, name.length + 1, line.length));
    return true;
  }
}
