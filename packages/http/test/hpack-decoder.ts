type Field = readonly [name: string, value: string];

/** The static table (RFC 7541 appendix A); only the first entries have values. */
const VALUES =
  ':authority,:method GET,:method POST,:path /,:path /index.html,:scheme http,:scheme https';
const STATUSES = ['200', '204', '206', '304', '400', '404', '500'];
const NAMES = `accept-language accept-ranges accept access-control-allow-origin age allow authorization cache-control
  content-disposition content-encoding content-language content-length content-location content-range content-type cookie
  date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified
  link location max-forwards proxy-authenticate proxy-authorization range referer refresh retry-after server set-cookie
  strict-transport-security transfer-encoding user-agent vary via www-authenticate`;

const STATIC: readonly Field[] = [
  ...VALUES.split(',').map((text): Field => [text.split(' ')[0] ?? '', text.split(' ')[1] ?? '']),
  ...STATUSES.map((status): Field => [':status', status]),
  ['accept-charset', ''],
  ['accept-encoding', 'gzip, deflate'],
  ...NAMES.split(/\s+/).map((name): Field => [name, '']),
];

/**
 * Decodes the field blocks of one direction of a connection, in their order (RFC 7541). It trusts the sender, and shares
 * no code with the engine under test: an error that both have would pass every test.
 */
export class HpackDecoder {
  readonly #table: Field[] = [];
  #maxBytes = 4096;
  #block: Buffer = Buffer.alloc(0);
  #at = 0;

  /** The fields of the next block. */
  decode(block: Buffer): Field[] {
    this.#block = block;
    this.#at = 0;
    const fields: Field[] = [];
    while (this.#at < block.length) {
      const byte = block[this.#at] ?? 0;
      if (byte >= 0x80) fields.push(this.#entry(this.#integer(0x7f)));
      else if (byte >= 0x40) {
        const field = this.#literal(0x3f);
        this.#table.unshift(field);
        this.#evict();
        fields.push(field);
      } else if (byte >= 0x20) {
        this.#maxBytes = this.#integer(0x1f);
        this.#evict();
      } else fields.push(this.#literal(0x0f));
    }
    return fields;
  }

  #literal(mask: number): Field {
    const index = this.#integer(mask);
    const name = index === 0 ? this.#string() : this.#entry(index)[0];
    return [name, this.#string()];
  }

  #entry(index: number): Field {
    const found = STATIC[index - 1] ?? this.#table[index - STATIC.length - 1];
    if (found === undefined) throw new Error(`no field at index ${index}`);
    return found;
  }

  #evict(): void {
    const bytes = () =>
      this.#table.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
    while (bytes() > this.#maxBytes) this.#table.pop();
  }

  #integer(mask: number): number {
    let value = (this.#block[this.#at++] ?? 0) & mask;
    if (value < mask) return value;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#block[this.#at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  #string(): string {
    const isHuffman = ((this.#block[this.#at] ?? 0) & 0x80) !== 0;
    const length = this.#integer(0x7f);
    const bytes = this.#block.subarray(this.#at, this.#at + length);
    this.#at += length;
    // The engine does not use the Huffman code.
    if (isHuffman) throw new Error('a string in the Huffman code');
    return bytes.toString('latin1');
  }
}
