import { HpackError } from './hpack-error.ts';

/** The names of the static table (RFC 7541 appendix A). */
const STATIC_NAMES =
  `:authority :method :method :path :path :scheme :scheme :status :status :status :status :status :status :status
  accept-charset accept-encoding accept-language accept-ranges accept access-control-allow-origin age allow authorization
  cache-control content-disposition content-encoding content-language content-length content-location content-range
  content-type cookie date etag expect expires from host if-match if-modified-since if-none-match if-range
  if-unmodified-since last-modified link location max-forwards proxy-authenticate proxy-authorization range referer refresh
  retry-after server set-cookie strict-transport-security transfer-encoding user-agent vary via www-authenticate`.split(
    /\s+/,
  );

/** The largest table: the default of SETTINGS_HEADER_TABLE_SIZE, which the gateway does not change. */
export const MAX_TABLE_BYTES = 4096;
/** What each entry takes in addition to its name and value (RFC 7541 section 4.1). */
const ENTRY_BYTES = 32;
const MAX_ENTRIES = MAX_TABLE_BYTES / ENTRY_BYTES;

/** What is known of a name. */
export interface FieldName {
  readonly length: number;
  readonly isInvalid: boolean;
  readonly isHost: boolean;
}

interface Entry {
  readonly name: FieldName;
  readonly bytes: number;
  readonly isInvalid: boolean;
}

const STATIC = STATIC_NAMES.map((name): FieldName => ({
  length: name.length,
  isInvalid: false,
  isHost: name === 'host',
}));

/** The static and the dynamic table of a connection (RFC 7541 section 2.3), with what is needed of each field. */
export class FieldTable {
  readonly #entries: (Entry | undefined)[] = Array.from({ length: MAX_ENTRIES }, () => undefined);
  #newest = 0;
  #count = 0;
  #bytes = 0;
  #maxBytes = MAX_TABLE_BYTES;

  /** The name at an index. */
  nameAt(index: number): FieldName {
    const name = index === 0 ? undefined : STATIC[index - 1];
    return name ?? this.#entry(index).name;
  }

  /** Whether the field at an index is invalid. */
  isInvalidAt(index: number): boolean {
    if (index >= 1 && index <= STATIC.length) return false;
    return this.#entry(index).isInvalid;
  }

  #entry(index: number): Entry {
    const age = index - STATIC.length - 1;
    const entry =
      age < 0 || age >= this.#count
        ? undefined
        : this.#entries[(this.#newest - age + MAX_ENTRIES) % MAX_ENTRIES];
    if (entry === undefined) throw new HpackError('an index is not in the table');
    return entry;
  }

  /** Adds a field (RFC 7541 section 4.4). One that is larger than the table empties it. */
  add(name: FieldName, valueLength: number, isInvalid: boolean): void {
    const bytes = name.length + valueLength + ENTRY_BYTES;
    this.#evict(this.#maxBytes - bytes);
    if (bytes > this.#maxBytes) return;
    this.#newest = (this.#newest + 1) % MAX_ENTRIES;
    this.#entries[this.#newest] = { name, bytes, isInvalid };
    this.#count += 1;
    this.#bytes += bytes;
  }

  /** Changes the size of the table (RFC 7541 section 6.3). */
  resize(maxBytes: number): void {
    if (maxBytes > MAX_TABLE_BYTES) throw new HpackError('the table is too large');
    this.#maxBytes = maxBytes;
    this.#evict(maxBytes);
  }

  #evict(maxBytes: number): void {
    while (this.#count > 0 && this.#bytes > maxBytes) {
      const oldest = (this.#newest - this.#count + 1 + MAX_ENTRIES) % MAX_ENTRIES;
      this.#bytes -= this.#entries[oldest]?.bytes ?? 0;
      this.#entries[oldest] = undefined;
      this.#count -= 1;
    }
  }
}
