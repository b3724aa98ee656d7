import { CHUNKED, NO_BODY, parseDecimal } from '../../message/framing.ts';
import type { HeaderFields } from '../../fields/header-fields.ts';
import { filterFields } from '../../fields/header-fields.ts';
import type { ResponseHead } from '../../message/response-head.ts';
import type { FieldLimits } from '../field-limits.ts';
import type { FieldSink } from '../hpack/decoder.ts';
import { KIND, type FieldKind } from '../hpack/field-kinds.ts';
import type { LastFields } from '../last-fields.ts';

/** RFC 9110 section 15: the largest status is 599. */
const STATUS = /^[1-5]\d\d$/;
const LENGTH = /^\d{1,15}$/;

/**
 * Builds the head of a response from its fields (RFC 9113 section 8.3.2), or reads trailers. One object serves a
 * connection: a block is read whole before the next one.
 */
export class ResponseReader implements FieldSink {
  readonly #limits: FieldLimits;
  readonly #last: LastFields;
  #status: string | undefined;
  #contentLength: string | undefined;
  #fields: string[] = [];
  #bytes = 0;
  #count = 0;
  #hasRegular = false;
  #isTrailers = false;
  #isMalformed = false;

  constructor(limits: FieldLimits, last: LastFields) {
    this.#limits = limits;
    this.#last = last;
  }

  /** Starts a block. */
  start(isTrailers: boolean): void {
    this.#status = this.#contentLength = undefined;
    this.#fields = [];
    this.#bytes = this.#count = 0;
    this.#hasRegular = this.#isMalformed = false;
    this.#isTrailers = isTrailers;
  }

  field(kind: FieldKind, name: string, value: string, bytes: number): void {
    this.#bytes += bytes;
    this.#count += 1;
    if (kind === KIND.status) this.#statusField(value);
    else if (kind === KIND.invalid || (kind >= KIND.method && kind <= KIND.protocol)) {
      this.#isMalformed = true;
    } else {
      this.#hasRegular = true;
      if (kind === KIND.contentLength && !this.#lengthField(value)) return;
      // Above the limit the rest is read, but not kept.
      if (kind !== KIND.dropped && !this.isTooLarge) this.#fields.push(name, value);
    }
  }

  /** It comes first, once, and never in trailers (section 8.3). */
  #statusField(value: string): void {
    const isValid = STATUS.test(value) && this.#status === undefined;
    if (this.#hasRegular || this.#isTrailers || !isValid) this.#isMalformed = true;
    this.#status = value;
  }

  /** Returns whether the field is kept: of equal ones the first. Trailers do not frame (RFC 9110 section 6.5.1). */
  #lengthField(value: string): boolean {
    const before = this.#contentLength;
    if (before === value) return false;
    if (before !== undefined || this.#isTrailers || !LENGTH.test(value)) this.#isMalformed = true;
    this.#contentLength = value;
    return true;
  }

  /** Whether the fields exceed a limit; those above it were not kept. */
  get isTooLarge(): boolean {
    return this.#bytes > this.#limits.maxHeaderBytes || this.#count > this.#limits.maxFields;
  }

  /** Whether the block that was read is malformed (section 8.1.1). */
  get isMalformed(): boolean {
    return this.#isMalformed || (!this.#isTrailers && this.#status === undefined);
  }

  /** The status of a head that is not malformed. */
  get status(): number {
    return parseDecimal(this.#status ?? '0');
  }

  /** The announced length; undefined if there is none. */
  get contentLength(): number | undefined {
    return this.#contentLength === undefined ? undefined : parseDecimal(this.#contentLength);
  }

  /** The fields of an interim response or of trailers. */
  get fields(): HeaderFields {
    return this.#fields;
  }

  /** The head. It must be neither malformed nor too large. */
  head(hasBody: boolean): ResponseHead {
    const { status } = this;
    // RFC 9110 section 8.6: a recipient that believes the length of a 204 would wait for a body.
    const fields =
      status === 204 && this.#contentLength !== undefined
        ? filterFields(this.#fields, (name) => name !== 'content-length')
        : this.#last.reuse(this.#fields);
    const bytes = this.contentLength;
    const ofBody = bytes === undefined ? CHUNKED : ({ kind: 'length', bytes } as const);
    const framing = hasBody && bytes !== 0 ? ofBody : NO_BODY;
    return { status, statusText: '', fields, framing, keepAlive: true, keepAliveHintMs: undefined };
  }
}
