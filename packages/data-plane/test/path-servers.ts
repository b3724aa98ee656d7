/** How servers turn the target of a request into a path. Written from their behaviour, not from the gateway's rules. */
export interface Server {
  readonly name: string;
  /** How often escapes are decoded. */
  readonly decodings: number;
  /** What happens to the bytes after each decoding. Each number is a byte. */
  readonly bytes?: (bytes: number[]) => number[];
  /** What happens to the text after all of it. Each character is one byte. */
  readonly text?: (text: string) => string;
  /** Whether `;` parameters are removed before anything is decoded. */
  readonly parametersFirst?: boolean;
  /** A path that leaves its base path. */
  readonly escape: string;
}

const isDigit = (byte: number | undefined) =>
  byte !== undefined && /[0-9a-f]/i.test(String.fromCharCode(byte));

function decodeEscapes(bytes: readonly number[]): number[] {
  const decoded: number[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === 0x25 && isDigit(bytes[at + 1]) && isDigit(bytes[at + 2])) {
      decoded.push(
        Number.parseInt(String.fromCharCode(bytes[at + 1] ?? 0, bytes[at + 2] ?? 0), 16),
      );
      at += 2;
    } else decoded.push(bytes[at] ?? 0);
  }
  return decoded;
}

/** The length that a lead byte announces, with no check of what follows. */
function announced(lead: number): number {
  if (lead >= 0xfe) return 7;
  if (lead >= 0xfc) return 6;
  if (lead >= 0xf8) return 5;
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}

/** A decoder that checks neither the length nor the upper bits; what is above ASCII becomes `X`. */
function lenientUtf8(bytes: number[]): number[] {
  const decoded: number[] = [];
  for (let at = 0; at < bytes.length;) {
    const lead = bytes[at] ?? 0;
    const length = announced(lead);
    if (length === 1 || at + length > bytes.length) {
      decoded.push(lead);
      at += 1;
      continue;
    }
    let value = lead & (length === 7 ? 0 : 0x7f >> length);
    for (let next = 1; next < length; next += 1)
      value = value * 64 + ((bytes[at + next] ?? 0) & 0x3f);
    decoded.push(value < 0x80 ? value : 0x58);
    at += length;
  }
  return decoded;
}

const strict = new TextDecoder('utf-8');

function dropInvalid(bytes: number[]): number[] {
  return [...Buffer.from(strict.decode(Buffer.from(bytes)).replaceAll('\ufffd', ''))];
}

function replaceInvalid(bytes: number[]): number[] {
  return [...Buffer.from(strict.decode(Buffer.from(bytes)).replaceAll('\ufffd', '?'))];
}

const compatible = (bytes: number[]) => [
  ...Buffer.from(Buffer.from(bytes).toString('utf8').normalize('NFKC').replaceAll('\u00a5', '\\')),
];

const slashes = (text: string) => text.replaceAll('\\', '/');
const withoutParameters = (text: string) => text.replaceAll(/;[^/]*/g, '');
/** The path of a text that is parsed as a URL: no query, no fragment, no line breaks, no spaces at the end. */
const parsedAgain = (text: string) =>
  (text.replaceAll(/[\t\r\n]/g, '').split(/[?#]/, 1)[0] ?? '').replace(/ +$/, '');
const windows = (text: string) => slashes(text).replaceAll(/(^|\/)(\.\.) +(?=\/|$)/g, '$1$2');
/** As ASP.NET and `unescape` of JavaScript decode. */
const unicodeEscapes = (text: string) =>
  text.replaceAll(/%u([0-9a-f]{4})/gi, (_all, hex: string) =>
    Buffer.from(String.fromCharCode(Number.parseInt(hex, 16))).toString('latin1'),
  );
const endsAtNul = (text: string) => text.split('\0', 1)[0] ?? '';

export const SERVERS: readonly Server[] = [
  { name: 'a server that decodes nothing', decodings: 0, escape: '/../x' },
  { name: 'a server that decodes once, such as nginx', decodings: 1, escape: '/%2e%2e/x' },
  { name: 'a server that decodes twice', decodings: 2, escape: '/%252e%252e%252fx' },
  { name: 'a server that decodes three times', decodings: 3, escape: '/%25252e./x' },
  {
    name: 'Tomcat, which removes parameters and then decodes',
    decodings: 1,
    parametersFirst: true,
    escape: '/..;v=1/x',
  },
  {
    name: 'a framework behind a servlet container, which decodes again',
    decodings: 2,
    text: (text) => withoutParameters(slashes(text)),
    escape: '/..%3bv/x',
  },
  { name: 'IIS', decodings: 1, text: windows, escape: '/..%5cx' },
  { name: 'IIS that decodes twice', decodings: 2, text: windows, escape: '/..%20%255cx' },
  {
    name: 'IIS with a lenient decoder of UTF-8',
    decodings: 1,
    bytes: lenientUtf8,
    text: windows,
    escape: '/..%c1%1cx',
  },
  {
    name: 'a lenient decoder of UTF-8 that decodes twice',
    decodings: 2,
    bytes: lenientUtf8,
    text: (text) => windows(withoutParameters(parsedAgain(text))),
    escape: '/%c0%a52e./x',
  },
  {
    name: 'modified UTF-8 in C',
    decodings: 1,
    bytes: lenientUtf8,
    text: endsAtNul,
    escape: '/..%c0%80x',
  },
  {
    name: 'a decoder that drops what is not UTF-8',
    decodings: 1,
    bytes: dropInvalid,
    escape: '/.%ff./x',
  },
  {
    name: 'a decoder that drops what is not UTF-8, twice',
    decodings: 2,
    bytes: dropInvalid,
    text: windows,
    escape: '/.%25ff.%255cx',
  },
  {
    name: 'a decoder that writes a question mark for what is not UTF-8',
    decodings: 1,
    bytes: replaceInvalid,
    text: (text) => slashes(parsedAgain(text)),
    escape: '/..%ff',
  },
  {
    name: 'a server with the best fit of code pages',
    decodings: 1,
    bytes: compatible,
    text: windows,
    escape: '/%ef%bc%8e.%c2%a5x',
  },
  {
    name: 'a server that decodes and parses the result as a URL',
    decodings: 1,
    text: (text) => slashes(parsedAgain(text)),
    escape: '/..%23',
  },
  {
    name: 'a server that decodes twice and parses the result as a URL',
    decodings: 2,
    text: (text) => slashes(parsedAgain(text)),
    escape: '/.%0a.%2523',
  },
  {
    name: 'an application in ASP.NET that decodes again',
    decodings: 1,
    text: (text) => windows(unicodeEscapes(text)),
    escape: '/%25u002e%25u002E%5cx',
  },
];

/** The path as the server sees it, before `.` and `..` are resolved. Each character is one byte. */
export function decodedPath(server: Server, target: string): string {
  const begin = server.parametersFirst === true ? withoutParameters(target) : target;
  let bytes = [...Buffer.from(begin, 'latin1')];
  const convert = server.bytes ?? ((same) => same);
  for (let decodings = 0; decodings < server.decodings; decodings += 1) {
    bytes = convert(decodeEscapes(bytes));
  }
  const text = Buffer.from(bytes).toString('latin1');
  return server.text === undefined ? text : server.text(text);
}
