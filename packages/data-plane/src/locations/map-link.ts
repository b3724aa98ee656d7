/**
 * Maps the targets and anchors of a `Link` field (RFC 8288 section 3). Everything else stays, and what follows a part that
 * is no link too.
 */
export function mapLink(value: string, map: (reference: string) => string): string {
  const reader = new LinkReader(value, map);
  reader.readLinks();
  return reader.mapped();
}

class LinkReader {
  readonly #text: string;
  readonly #map: (reference: string) => string;
  #at = 0;
  /** What is written in place of the text up to `#copied`. */
  #written = '';
  #copied = 0;

  constructor(text: string, map: (reference: string) => string) {
    this.#text = text;
    this.#map = map;
  }

  mapped(): string {
    return this.#written + this.#text.slice(this.#copied);
  }

  readLinks(): void {
    for (;;) {
      this.#skip(/[ \t,]*/y);
      if (this.#text[this.#at] !== '<') return;
      const end = this.#text.indexOf('>', this.#at);
      if (end === -1) return;
      this.#replace(this.#at + 1, end);
      this.#at = end + 1;
      this.#readParameters();
    }
  }

  /** Up to the comma before the next link, or the end. */
  #readParameters(): void {
    for (;;) {
      this.#skip(/[ \t]*/y);
      if (this.#text[this.#at] !== ';') return;
      this.#skip(/[ \t;]*/y);
      const name = this.#skip(/[^=;, \t]*/y).toLowerCase();
      this.#skip(/[ \t]*/y);
      if (this.#text[this.#at] !== '=') continue;
      this.#at += 1;
      this.#skip(/[ \t]*/y);
      if (this.#text[this.#at] === '"') this.#readQuoted(name === 'anchor');
      else this.#readUnquoted(name === 'anchor');
    }
  }

  #readQuoted(isAnchor: boolean): void {
    const start = this.#at + 1;
    const inside = /(?:[^"\\]|\\.)*/sy;
    inside.lastIndex = start;
    inside.test(this.#text);
    const end = inside.lastIndex;
    if (isAnchor && this.#text[end] === '"') this.#replace(start, end, true);
    this.#at = Math.min(end + 1, this.#text.length);
  }

  #readUnquoted(isAnchor: boolean): void {
    const start = this.#at;
    const value = this.#skip(/[^;,]*/y);
    if (isAnchor) this.#replace(start, start + value.trimEnd().length);
  }

  #replace(start: number, end: number, isQuoted = false): void {
    const raw = this.#text.slice(start, end);
    const reference = isQuoted ? raw.replaceAll(/\\(.)/gs, '$1') : raw;
    const mapped = this.#map(reference);
    if (mapped === reference) return;
    const written = isQuoted ? mapped.replaceAll(/["\\]/g, String.raw`\$&`) : mapped;
    this.#written += this.#text.slice(this.#copied, start) + written;
    this.#copied = end;
  }

  /** Moves on over what a sticky pattern matches, and returns it. */
  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }
}
