import type { Steps } from '../pace.ts';

/** Where the text of an element begins and ends, in bytes. */
export type ElementRange = readonly [start: number, end: number];

/** A JSON object in parts that can be parsed one by one. */
export interface SplitJson {
  /** The object with these arrays empty. */
  readonly rest: string;
  /** The elements of each of these arrays. */
  readonly arrays: ReadonlyMap<string, readonly ElementRange[]>;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** White space in JSON (RFC 8259 section 2). */
const WHITE_SPACE = new Set<number | undefined>([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Finds the elements of arrays of a JSON object, one element per step, because `JSON.parse` of all the text would block
 * the event loop: for a second with 100 000 routes and as many tokens. It finds boundaries only; whether the parts are
 * JSON shows when they are parsed.
 *
 * @param names of the arrays, which are properties of the object itself
 */
export function* splitJson(json: Uint8Array, names: ReadonlySet<string>): Steps<SplitJson> {
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const arrays = new Map<string, readonly ElementRange[]>();
  const rest: string[] = [];
  let restFrom = 0;
  let depth = 0;
  let name = '';
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) {
      const end = endOfString(text, at);
      if (depth === 1) name = text.toString('utf8', at + 1, end);
      at = end;
    } else if (byte === OPEN_ARRAY && depth === 1 && names.has(name)) {
      rest.push(text.toString('utf8', restFrom, at + 1));
      const ranges: ElementRange[] = [];
      restFrom = yield* findElements(text, at + 1, ranges);
      arrays.set(name, ranges);
      at = restFrom;
    } else depth += depthChange(byte);
  }
  rest.push(text.toString('utf8', restFrom));
  return { rest: rest.join(''), arrays };
}

/** Adds the elements of the array whose content begins here; returns where its closing bracket is. */
function* findElements(text: Buffer, from: number, ranges: ElementRange[]): Steps<number> {
  let start = from;
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) at = endOfString(text, at);
    else if (depth === 0 && (byte === COMMA || byte === CLOSE_ARRAY)) {
      const isEmpty = byte === CLOSE_ARRAY && ranges.length === 0 && isBlank(text, start, at);
      if (!isEmpty) ranges.push([start, at]);
      if (byte === CLOSE_ARRAY) return at;
      start = at + 1;
      yield;
    } else depth += depthChange(byte);
  }
  return text.length;
}

function depthChange(byte: number | undefined): number {
  if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) return 1;
  return byte === CLOSE_OBJECT || byte === CLOSE_ARRAY ? -1 : 0;
}

/** Where the closing quote of the string is that begins here; the end of the text if it has none. */
function endOfString(text: Buffer, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at += 1;
  }
  return text.length;
}

function isBlank(text: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (!WHITE_SPACE.has(text[at])) return false;
  return true;
}
