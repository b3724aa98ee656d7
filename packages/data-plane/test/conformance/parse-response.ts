import type { Fields } from './fields-case.ts';

/** The response in the bytes of an upstream, parsed strictly by RFC 9112; each character is one byte. */
export type ParsedResponse =
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly body: string;
      readonly trailers: Fields;
    }
  /** Its head is valid, but its body is incomplete or malformed. */
  | { readonly kind: 'unfinished' }
  | { readonly kind: 'none' };

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const FIELD_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*$/;
const SIZE_LINE = /^([0-9A-Fa-f]{1,13})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/;
/** The number of interim responses that the gateway skips. */
const MAX_INTERIM = 100;

interface Head {
  readonly status: number;
  readonly framing: 'none' | 'chunked' | 'until_close' | number;
  readonly rest: string;
}

/**
 * Parses the response to a GET from all bytes before the upstream closes its connection, with a separate strict parser,
 * to compare it with the gateway.
 */
export function parseResponse(text: string): ParsedResponse {
  let rest = text;
  for (let interim = 0; interim <= MAX_INTERIM; interim += 1) {
    const head = parseHead(rest);
    if (head === undefined || head.status === 101) return { kind: 'none' };
    rest = head.rest;
    if (head.status >= 200) return withBody(head);
  }
  return { kind: 'none' };
}

function parseHead(text: string): Head | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const [, minor, digits] = STATUS_LINE.exec(statusLine) ?? [];
  if (digits === undefined) return undefined;
  const fields: [string, string][] = [];
  for (const line of lines) {
    const [, name, value = ''] = FIELD_LINE.exec(line) ?? [];
    if (name === undefined) return undefined;
    fields.push([name.toLowerCase(), value]);
  }
  const status = Number(digits);
  const framing = framingOf(status, minor === '1', fields);
  return framing === undefined ? undefined : { status, framing, rest: text.slice(end + 4) };
}

/** RFC 9112 section 6.3. Equal lengths count as one. */
function framingOf(
  status: number,
  http11: boolean,
  fields: readonly [string, string][],
): Head['framing'] | undefined {
  const values = (wanted: string) =>
    fields.flatMap(([name, value]) => (name === wanted ? [value] : []));
  const codings = values('transfer-encoding');
  const lengths = [...new Set(values('content-length'))];
  const [length] = lengths;
  if (lengths.length > 1 || (length !== undefined && !/^\d{1,15}$/.test(length))) return undefined;
  if (codings.length > 0) {
    const chunked = codings.length === 1 && codings[0]?.toLowerCase() === 'chunked';
    if (!chunked || length !== undefined || !http11) return undefined;
  }
  if (status < 200 || status === 204 || status === 304) return 'none';
  if (codings.length > 0) return 'chunked';
  return length === undefined ? 'until_close' : Number(length);
}

function withBody({ status, framing, rest }: Head): ParsedResponse {
  const response = { kind: 'response', status, trailers: [] } as const;
  if (framing === 'none') return { ...response, body: '' };
  if (framing === 'until_close') return { ...response, body: rest };
  if (framing === 'chunked') {
    const found = unchunk(rest);
    return found === undefined ? { kind: 'unfinished' } : { ...response, ...found };
  }
  if (rest.length < framing) return { kind: 'unfinished' };
  return { ...response, body: rest.slice(0, framing) };
}

function unchunk(text: string): { readonly body: string; readonly trailers: Fields } | undefined {
  let body = '';
  for (let at = 0; ;) {
    const end = text.indexOf('\r\n', at);
    const [, digits] = SIZE_LINE.exec(text.slice(at, Math.max(at, end))) ?? [];
    if (end === -1 || digits === undefined) return undefined;
    const size = Number.parseInt(digits, 16);
    const data = end + 2;
    if (size === 0) {
      const trailers = trailersFrom(text, data);
      return trailers && { body, trailers };
    }
    if (text.slice(data + size, data + size + 2) !== '\r\n') return undefined;
    body += text.slice(data, data + size);
    at = data + size + 2;
  }
}

/** The fields before the next empty line; undefined: there is none, or a line is malformed. */
function trailersFrom(text: string, from: number): Fields | undefined {
  const fields: (readonly [string, string])[] = [];
  for (let at = from; ;) {
    const end = text.indexOf('\r\n', at);
    if (end === -1) return undefined;
    const line = text.slice(at, end);
    if (line === '') return fields;
    const [, name, value = ''] = FIELD_LINE.exec(line) ?? [];
    if (name === undefined) return undefined;
    fields.push([name, value]);
    at = end + 2;
  }
}
