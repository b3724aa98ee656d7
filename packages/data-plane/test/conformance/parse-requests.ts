/** A request parsed strictly by RFC 9112; each character is one byte. */
export interface ParsedRequest {
  readonly method: string;
  readonly target: string;
  /** Name and value of each header line, in order. */
  readonly lines: readonly (readonly [name: string, value: string])[];
  /** Without the chunked coding. */
  readonly body: string;
  /** Trailer lines, unchanged. */
  readonly trailers: readonly string[];
  /** Whether it has exactly one Host, or equal ones of a caller. Its end is certain also without. */
  readonly named: boolean;
}

export interface ParsedRequests {
  readonly requests: readonly ParsedRequest[];
  /** The number of characters of the complete requests. */
  readonly used: number;
  /** The rest: nothing, the start of another request, or malformed bytes. */
  readonly rest: 'nothing' | 'partial' | 'malformed';
}

const REQUEST_LINE = /([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([\x21-\x7e]+) HTTP\/1\.([01])\r\n/y;
/** Later minor versions are read as 1.1 (RFC 9110 section 2.5). */
const SPACED_LINE = /([!#$%&'*+\-.^_`|~0-9A-Za-z]+) +([\x21-\x7e]+) +HTTP\/1\.(\d)\r\n/y;
const FIELD_LINE = /([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*\r\n/y;
const SIZE_LINE = /([0-9A-Fa-f]{1,13})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?\r\n/y;

/** The text is incomplete, or malformed. */
class Partial extends Error {}
class Malformed extends Error {}

/**
 * Parses the requests of a connection with a separate strict parser, to compare it with the gateway. Only a caller may
 * send empty lines before a request, more than one space in the request line (RFC 9112 sections 2.2 and 3), and equal
 * lines of Host and Content-Length.
 */
export function parseRequests(text: string, sender: 'caller' | 'gateway'): ParsedRequests {
  const requests: ParsedRequest[] = [];
  let used = 0;
  for (;;) {
    while (sender === 'caller' && /[\r\n]/.test(text.charAt(used))) used += 1;
    if (used === text.length) return { requests, used, rest: 'nothing' };
    try {
      const reader = new Reader(text, used);
      requests.push(reader.request(sender));
      used = reader.at;
    } catch (error) {
      if (error instanceof Partial) return { requests, used, rest: 'partial' };
      if (error instanceof Malformed) return { requests, used, rest: 'malformed' };
      throw error;
    }
  }
}

class Reader {
  readonly #text: string;
  at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  request(sender: 'caller' | 'gateway'): ParsedRequest {
    const isCaller = sender === 'caller';
    const startLine = isCaller ? SPACED_LINE : REQUEST_LINE;
    const [, method = '', target = '', minor = ''] = this.#line(startLine);
    const lines = this.#fields();
    const values = (name: string) =>
      lines.flatMap(([key, value]) => (key.toLowerCase() === name ? [value] : []));
    // Equal values of a caller are one.
    const single = (name: string) => (isCaller ? [...new Set(values(name))] : values(name));
    const hosts = single('host');
    const named = hosts.length === 1 || (minor === '0' && hosts.length === 0);
    const codings = values('transfer-encoding');
    const lengths = single('content-length');
    if (codings.length > 0) {
      const framed = codings.length === 1 && codings[0]?.toLowerCase() === 'chunked';
      if (!framed || lengths.length > 0 || minor === '0') throw new Malformed('framing');
      return { method, target, lines, named, ...this.#chunks() };
    }
    const [length = '0'] = lengths;
    if (lengths.length > 1 || !/^\d{1,15}$/.test(length)) throw new Malformed('framing');
    return { method, target, lines, named, body: this.#take(Number(length)), trailers: [] };
  }

  #chunks(): { body: string; trailers: string[] } {
    let body = '';
    for (;;) {
      const size = Number.parseInt(this.#line(SIZE_LINE)[1] ?? '', 16);
      if (size === 0) break;
      body += this.#take(size);
      if (this.#take(2) !== '\r\n') throw new Malformed('chunk');
    }
    return { body, trailers: this.#fields().map(([name, value]) => `${name}: ${value}`) };
  }

  /** Field lines up to the empty line that ends them. */
  #fields(): [string, string][] {
    const fields: [string, string][] = [];
    while (!this.#text.startsWith('\r\n', this.at)) {
      const [, name = '', value = ''] = this.#line(FIELD_LINE);
      fields.push([name, value]);
    }
    this.at += 2;
    return fields;
  }

  #line(form: RegExp): RegExpExecArray {
    form.lastIndex = this.at;
    const found = form.exec(this.#text);
    if (found === null) {
      const ends = this.#text.indexOf('\n', this.at) !== -1;
      throw ends ? new Malformed('line') : new Partial();
    }
    this.at = form.lastIndex;
    return found;
  }

  #take(length: number): string {
    if (this.#text.length - this.at < length) throw new Partial();
    this.at += length;
    return this.#text.slice(this.at - length, this.at);
  }
}
