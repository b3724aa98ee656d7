import ipaddr from 'ipaddr.js';

interface Embedding {
  readonly network: [ipaddr.IPv4 | ipaddr.IPv6, number];
  /** The positions of the IPv4 address in the sixteen bytes. */
  readonly bytes: readonly [number, number, number, number];
  /** Teredo inverts the bits of its client's address (RFC 4380 section 4). */
  readonly inverted?: true;
  /**
   * The prefix length is unknown: the position counts if it is not zero and everything after it is zero (RFC 6052 section
   * 2.2).
   */
  readonly alternative?: true;
}

const LAST = [12, 13, 14, 15] as const;

/**
 * IPv6 prefixes that translators and tunnels map to IPv4, with the position of the IPv4 address. An upstream with such an
 * address is reached at the IPv4 address, so the same rules apply to it.
 */
const EMBEDDINGS: readonly Embedding[] = [
  // IPv4-compatible (RFC 4291 section 2.5.5.1) and IPv4-translated (RFC 2765 section 2.1).
  { network: ipaddr.parseCIDR('::/96'), bytes: LAST },
  { network: ipaddr.parseCIDR('::ffff:0:0:0/96'), bytes: LAST },
  // NAT64: the well-known prefix, then network-specific ones, at the positions of /48, /56, /64 and /96
  // (RFC 6052 section 2.2, RFC 8215).
  { network: ipaddr.parseCIDR('64:ff9b::/96'), bytes: LAST },
  { network: ipaddr.parseCIDR('64:ff9b:1::/48'), bytes: [6, 7, 9, 10], alternative: true },
  { network: ipaddr.parseCIDR('64:ff9b:1::/48'), bytes: [7, 9, 10, 11], alternative: true },
  { network: ipaddr.parseCIDR('64:ff9b:1::/48'), bytes: [9, 10, 11, 12], alternative: true },
  { network: ipaddr.parseCIDR('64:ff9b:1::/48'), bytes: LAST, alternative: true },
  // 6to4 (RFC 3056 section 2).
  { network: ipaddr.parseCIDR('2002::/16'), bytes: [2, 3, 4, 5] },
  // Teredo: server and client (RFC 4380 section 4).
  { network: ipaddr.parseCIDR('2001::/32'), bytes: [4, 5, 6, 7] },
  { network: ipaddr.parseCIDR('2001::/32'), bytes: LAST, inverted: true },
];

/** ISATAP: in any network, the interface id starts with 0:5efe or 200:5efe (RFC 5214 section 6.1). */
const ISATAP_INTERFACE = /^0[02]005efe$/;

/** `::` and `::1` are not the IPv4-compatible form of 0.0.0.0 and 0.0.0.1. */
const OWN_ADDRESSES = new Set(['::', '::1']);

/**
 * The IPv4 addresses that an IPv6 address may lead to; none for other text. IPv4-mapped addresses (`::ffff:10.0.0.1`) are not
 * among them, because `AddressRanges` treats those as IPv4.
 */
export function embeddedAddresses(text: string): readonly string[] {
  if (!text.includes(':') || !ipaddr.IPv6.isValid(text)) return [];
  const address = ipaddr.IPv6.parse(text);
  const bytes = address.toByteArray();
  // The zone is not part of the address.
  const plain = new ipaddr.IPv6(bytes);
  if (OWN_ADDRESSES.has(plain.toString())) return [];
  const found = EMBEDDINGS.filter((one) => holds(one, plain, bytes)).map((one) =>
    dotted(bytes, one.bytes, one.inverted === true),
  );
  const interfaceName = Buffer.from(bytes.slice(8, 12)).toString('hex');
  return ISATAP_INTERFACE.test(interfaceName) ? [...found, dotted(bytes, LAST, false)] : found;
}

function holds(embedding: Embedding, address: ipaddr.IPv6, bytes: readonly number[]): boolean {
  const [prefix, bits] = embedding.network;
  if (!address.match(prefix, bits)) return false;
  if (embedding.alternative === undefined) return true;
  const isZero = (byte: number) => byte === 0;
  const inner = embedding.bytes.map((place) => bytes[place] ?? 0);
  return !inner.every(isZero) && bytes.slice(embedding.bytes[3] + 1).every(isZero);
}

function dotted(bytes: readonly number[], places: readonly number[], inverted: boolean): string {
  return places.map((place) => (bytes[place] ?? 0) ^ (inverted ? 0xff : 0)).join('.');
}
