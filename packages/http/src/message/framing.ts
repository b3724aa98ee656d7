import type { FieldVisitor } from '../fields/parse-field-lines.ts';

/**
 * How the end of a body is found (RFC 9112 section 6.3). `until_close`: the connection ends with the body.
 * Nothing after the head can be read if it is `unknown`, or `unsupported` because of a coding besides `chunked`.
 */
export type BodyFraming =
  | { readonly kind: 'none' | 'chunked' | 'until_close' | 'unknown' | 'unsupported' }
  | { readonly kind: 'length'; readonly bytes: number };

export const NO_BODY: BodyFraming = { kind: 'none' };
export const CHUNKED: BodyFraming = { kind: 'chunked' };
export const UNTIL_CLOSE: BodyFraming = { kind: 'until_close' };
export const UNKNOWN_FRAMING: BodyFraming = { kind: 'unknown' };
export const UNSUPPORTED_CODING: BodyFraming = { kind: 'unsupported' };

/** Codings without parameters before a last `chunked` (RFC 9112 section 7), in lower case. */
const OTHER_CODINGS = /^(?:(?!chunked[ \t,])[!#$%&'*+\-.^_`|~0-9a-z]+[ \t]*,[ \t]*)+chunked$/;

/**
 * The framing of a request with a transfer coding, in lower case (RFC 9112 section 6.1). A coding that is not decoded
 * here is unsupported if `chunked` is the last one and occurs once. Everything else is ambiguous.
 */
export function codedFraming(coding: string): BodyFraming {
  if (coding === 'chunked') return CHUNKED;
  return OTHER_CODINGS.test(coding) ? UNSUPPORTED_CODING : UNKNOWN_FRAMING;
}

/** Whether nothing after the head can be read. */
export function isUnreadable({ kind }: BodyFraming): boolean {
  return kind === 'unknown' || kind === 'unsupported';
}

/** The length of the body, if it is announced. */
export function announcedLength(framing: BodyFraming): number | undefined {
  return framing.kind === 'length' ? framing.bytes : undefined;
}

const READ_NAMES = new Set([
  'upgrade',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
]);

/** The fields of a head that decide where its body ends and whether the connection persists. */
export class ControlFields implements FieldVisitor {
  contentLength: string | undefined = undefined;
  /** How many Content-Length lines there are, and whether they differ. */
  lengthLines = 0;
  lengthsDiffer = false;
  /** Every Transfer-Encoding line, joined by commas, in lower case. */
  transferCoding: string | undefined = undefined;
  /** Every Upgrade line that differs from those before it, joined by commas, in lower case. */
  upgrade: string | undefined = undefined;
  keepAlive: string | undefined = undefined;
  /** Every Connection line, each after a comma, in lower case. */
  #connection = '';

  field(name: string, value: string): void {
    // The length is compared first, because comparing names in lower case costs more and few fields have these lengths.
    switch (name.length) {
      case 7:
        if (name.toLowerCase() === 'upgrade') this.#upgradeLine(value.toLowerCase());
        break;
      case 10:
        if (name.toLowerCase() === 'connection') this.#connection += `,${value.toLowerCase()}`;
        else if (name.toLowerCase() === 'keep-alive') this.keepAlive = value;
        break;
      case 14:
        if (name.toLowerCase() !== 'content-length') break;
        this.lengthLines += 1;
        this.lengthsDiffer ||= this.lengthLines > 1 && this.contentLength !== value;
        this.contentLength = value;
        break;
      case 17: {
        if (name.toLowerCase() !== 'transfer-encoding') break;
        const before = this.transferCoding;
        this.transferCoding = (before === undefined ? '' : `${before}, `) + value.toLowerCase();
        break;
      }
    }
  }

  /** Whether `field` reads a field with this name. */
  static has(name: string): boolean {
    return READ_NAMES.has(name.toLowerCase());
  }

  #upgradeLine(protocols: string): void {
    const before = this.upgrade;
    if (before === undefined) this.upgrade = protocols;
    else if (before !== protocols) this.upgrade = `${before}, ${protocols}`;
  }

  /** Whether the connection persists after this message (RFC 9112 section 9.3). */
  persists(httpVersion: string): boolean {
    const options = this.#connection;
    if (options === '') return httpVersion === '1.1';
    if (options === ',keep-alive') return true;
    if (CLOSE.test(options)) return false;
    return httpVersion === '1.1' || KEEP_ALIVE.test(options);
  }

  /** The protocol in `Upgrade`, in lower case, if `Connection` lists it (RFC 9110 section 7.8). */
  get requestedUpgrade(): string | undefined {
    return this.upgrade !== undefined && UPGRADE.test(this.#connection) ? this.upgrade : undefined;
  }
}

const CLOSE = optionPattern('close');
const KEEP_ALIVE = optionPattern('keep-alive');
const UPGRADE = optionPattern('upgrade');

/** A member of a comma-separated list, with spaces or tabs around it (RFC 9110 section 5.6.1). */
function optionPattern(option: string): RegExp {
  return new RegExp(`(?:^|,)[ \\t]*${option}[ \\t]*(?:,|$)`);
}

const ZERO = 0x30;

/** Parses decimal digits; exact for up to 15. Faster than `Number`, which leaves compiled code. */
export function parseDecimal(digits: string): number {
  let number = 0;
  for (let index = 0; index < digits.length; index += 1) {
    number = number * 10 + digits.charCodeAt(index) - ZERO;
  }
  return number;
}
