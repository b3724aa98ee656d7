import { CHUNKED, NO_BODY, parseDecimal, type BodyFraming } from '../message/framing.ts';
import { isMethod, type RequestHead } from '../message/request-head.ts';
import { fieldValue } from '../fields/header-fields.ts';
import type { FieldLimits } from './field-limits.ts';
import type { FieldSink } from './hpack/decoder.ts';
import { KIND, type FieldKind } from './hpack/field-kinds.ts';
import type { LastFields } from './last-fields.ts';

/** Why a request that is well-formed HTTP/2 is refused, as over HTTP/1.1. */
export type HeadRefusal = 'header_overflow' | 'target_overflow' | 'malformed_head';

/** A path of visible characters, because a space would end the request line that is sent upstream. */
const TARGET = /^(?:\/[!-~]*|\*)$/;
const NON_ASCII_TARGET = /^\/[!-~\x80-\xff]*$/;
const LENGTH = /^\d{1,15}$/;
/** RFC 9110 section 9.1: a method is a token. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const WEB_SOCKET = 'websocket';
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*$/;

/**
 * Builds the head of a request from its fields (RFC 9113 section 8.3.1). One object serves a connection: a block is read
 * whole before the next one.
 *
 * `:authority` becomes Host. A Host that differs stays beside it, so that the request is refused for a repeated Host.
 * Cookies that were sent apart are joined (section 8.2.3).
 */
export class RequestReader implements FieldSink {
  readonly #limits: FieldLimits;
  readonly #last: LastFields;
  readonly #webSocketKey: (() => string) | undefined;
  #method: string | undefined;
  #path: string | undefined;
  #scheme: string | undefined;
  #authority: string | undefined;
  #protocol: string | undefined;
  #cookie: string | undefined;
  #contentLength: string | undefined;
  /** That of a request which is too large, if it comes after what was kept. */
  #lateContentType: string | undefined;
  #fields: string[] = [];
  #bytes = 0;
  #count = 0;
  #hosts = 0;
  #hasRegular = false;
  #isTrailers = false;
  #isMalformed = false;

  /**
   * @param limits above them a request is refused, with a response
   * @param webSocketKey makes a `Sec-WebSocket-Key`; undefined: extended CONNECT is not offered
   */
  constructor(limits: FieldLimits, webSocketKey: (() => string) | undefined, last: LastFields) {
    this.#limits = limits;
    this.#last = last;
    this.#webSocketKey = webSocketKey;
  }

  /** Starts a block. */
  start(isTrailers: boolean): void {
    this.#method = this.#path = this.#scheme = this.#authority = this.#protocol = undefined;
    this.#cookie = this.#contentLength = this.#lateContentType = undefined;
    this.#fields = [];
    this.#bytes = this.#count = this.#hosts = 0;
    this.#hasRegular = this.#isMalformed = false;
    this.#isTrailers = isTrailers;
  }

  field(kind: FieldKind, name: string, value: string, bytes: number): void {
    this.#bytes += bytes;
    this.#count += 1;
    if (kind === KIND.regular) {
      this.#hasRegular = true;
      // Above the limit the rest is read, but not kept.
      if (!this.isTooLarge) this.#fields.push(name, value);
      else if (name === 'content-type') this.#lateContentType ??= value;
    } else if (kind >= KIND.method && kind <= KIND.protocol) this.#pseudo(kind, value);
    else this.#special(kind, name, value);
  }

  /** Whether the fields exceed a limit; those above it were not kept. */
  get isTooLarge(): boolean {
    return this.#bytes > this.#limits.maxHeaderBytes || this.#count > this.#limits.maxFields;
  }

  /** Pseudo-header fields come first, once each, and never in trailers (section 8.3). */
  #pseudo(kind: FieldKind, value: string): void {
    if (this.#hasRegular || this.#isTrailers) this.#isMalformed = true;
    else if (kind === KIND.method && this.#method === undefined) this.#method = value;
    else if (kind === KIND.path && this.#path === undefined) this.#path = value;
    else if (kind === KIND.scheme && this.#scheme === undefined) this.#scheme = value;
    else if (kind === KIND.authority && this.#authority === undefined) {
      this.#authority = value;
      this.#fields.push('host', value);
    } else if (kind === KIND.protocol && this.#protocol === undefined) this.#protocol = value;
    else this.#isMalformed = true;
  }

  #special(kind: FieldKind, name: string, value: string): void {
    this.#hasRegular = true;
    if (kind === KIND.invalid) this.#isMalformed = true;
    if (kind === KIND.invalid || kind === KIND.dropped || this.isTooLarge) return;
    if (kind === KIND.cookie) {
      this.#cookie = this.#cookie === undefined ? value : `${this.#cookie}; ${value}`;
    } else if (kind === KIND.contentLength) {
      const isRepeated = this.#contentLength !== undefined;
      // Trailers do not frame (RFC 9110 section 6.5.1).
      if (isRepeated || this.#isTrailers || !LENGTH.test(value)) this.#isMalformed = true;
      this.#contentLength = value;
      this.#fields.push(name, value);
    } else {
      if (kind === KIND.host) this.#hosts += 1;
      if (kind !== KIND.host || value !== this.#authority) this.#fields.push(name, value);
    }
  }

  /** Whether the block that was read is malformed (section 8.1.1). */
  get isMalformed(): boolean {
    if (this.#isMalformed) return true;
    return !this.#isTrailers && !this.#hasAllPseudoFields();
  }

  #hasAllPseudoFields(): boolean {
    const method = this.#method;
    const path = this.#path;
    const scheme = this.#scheme;
    if (method === undefined || !TOKEN.test(method) || !this.#hasAuthority) return false;
    if (this.#protocol !== undefined) {
      // RFC 8441 section 4.
      const isOffered = this.#webSocketKey !== undefined && method === 'CONNECT';
      if (!isOffered || this.#protocol === '' || this.#authority === undefined) return false;
      if (this.#contentLength !== undefined) return false;
    } else if (method === 'CONNECT') {
      return path === undefined && scheme === undefined && this.#authority !== undefined;
    }
    if (path === undefined || scheme === undefined || !SCHEME.test(scheme)) return false;
    // Only OPTIONS has a target without a path (section 8.3.1).
    if (path === '*') return method === 'OPTIONS';
    return TARGET.test(path) || NON_ASCII_TARGET.test(path);
  }

  /** Without an authority Host stands for it (section 8.3.1). */
  get #hasAuthority(): boolean {
    return this.#authority === undefined ? this.#hosts === 1 : this.#authority !== '';
  }

  /** Why the request is refused, if it is. */
  get refusal(): HeadRefusal | undefined {
    const { maxHeaderBytes } = this.#limits;
    const path = this.#path ?? '*';
    if (path.length > maxHeaderBytes) return 'target_overflow';
    if (this.isTooLarge) return 'header_overflow';
    return isMethod(this.#method ?? '') && TARGET.test(path) ? undefined : 'malformed_head';
  }

  /** The head. It must be neither malformed nor refused for it to be passed on. */
  head(endsStream: boolean): RequestHead {
    const fields = this.#fields;
    if (this.#cookie !== undefined) fields.push('cookie', this.#cookie);
    const upgrade = this.#protocol?.toLowerCase();
    if (upgrade === WEB_SOCKET) return this.#webSocketHead(fields, upgrade);
    return {
      method: this.#method ?? '',
      // A plain CONNECT has no path.
      url: this.#path ?? '*',
      httpVersion: '2.0',
      fields: this.#last.reuse(fields),
      framing: this.#framing(endsStream),
      keepAlive: true,
      upgrade,
    };
  }

  /** The handshake as HTTP/1.1 has it (RFC 8441 section 5): GET with a key. DATA are the bytes after it. */
  #webSocketHead(fields: string[], upgrade: string): RequestHead {
    const hasKey = fields.some((name, index) => index % 2 === 0 && name === 'sec-websocket-key');
    if (!hasKey) fields.push('sec-websocket-key', this.#webSocketKey?.() ?? '');
    const url = this.#path ?? '*';
    const framing = NO_BODY;
    return { method: 'GET', url, httpVersion: '2.0', fields, framing, keepAlive: true, upgrade };
  }

  /** The announced length; undefined if there is none. */
  get contentLength(): number | undefined {
    return this.#contentLength === undefined ? undefined : parseDecimal(this.#contentLength);
  }

  /** The first `Content-Type`, also of a request that is too large. */
  get contentType(): string | undefined {
    return fieldValue(this.#fields, 'content-type') ?? this.#lateContentType;
  }

  /** Fields of trailers. */
  get trailers(): readonly string[] {
    return this.#fields;
  }

  #framing(endsStream: boolean): BodyFraming {
    const bytes = this.contentLength;
    if (bytes === undefined) return endsStream ? NO_BODY : CHUNKED;
    return bytes > 0 ? { kind: 'length', bytes } : NO_BODY;
  }
}
