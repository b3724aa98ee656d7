import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** Size of the cache of results: the same few proxies connect repeatedly. */
const MAX_KNOWN = 1024;

/** A set of address ranges, parsed from CIDRs such as `10.0.0.0/8` or `fe80::/10`. */
export interface AddressRanges {
  has(address: string): boolean;
  readonly texts: readonly string[];
}

/**
 * Parses CIDRs, or single addresses. An IPv4 address inside IPv6 (`::ffff:10.0.0.1`) counts as the
 * IPv4 address that it carries.
 *
 * @throws Error that names the malformed range
 */
export function parseAddressRanges(texts: readonly string[]): AddressRanges {
  const ranges = texts.map(parseRange);
  const known = new Map<string, boolean>();
  const lookUp = (text: string) => {
    const address = parseAddress(text);
    if (address === undefined) return false;
    return ranges.some(
      ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
    );
  };
  return {
    texts,
    has(text) {
      const before = known.get(text);
      if (before !== undefined) return before;
      const within = lookUp(text);
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(text, within);
      return within;
    },
  };
}

function parseRange(text: string): Range {
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.parse(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  } catch (cause) {
    throw new Error(`${text} is not an address or a CIDR range`, { cause });
  }
}

/** The address, with IPv4-mapped IPv6 as IPv4, or undefined if the text is not an address. */
function parseAddress(text: string): Address | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
}

/** The address in canonical form: IPv4-mapped IPv6 as IPv4, zeros shortened. Other text stays unchanged. */
export function normaliseAddress(text: string): string {
  return text.startsWith('::ffff:') || text.includes(':')
    ? (parseAddress(text)?.toString() ?? text)
    : text;
}

/**
 * The key for counting an address: the address itself, or for IPv6 its /64 network, because a host there can use all of its
 * addresses (RFC 4291 section 2.5.1).
 */
export function addressGroup(text: string): string {
  const address = text.includes(':') ? parseAddress(text) : undefined;
  if (!(address instanceof ipaddr.IPv6)) return address?.toString() ?? text;
  return address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':');
}

/**
 * The client's address: that of the connection, or, if the connection comes from a trusted proxy, the last address in
 * `X-Forwarded-For` that is not a trusted proxy. Everything to its left was written by the client and is not trusted.
 */
export function clientAddress(
  connectionAddress: string,
  forwardedFor: string | undefined,
  trusted: AddressRanges,
): string {
  let address = normaliseAddress(connectionAddress);
  if (forwardedFor === undefined || trusted.texts.length === 0) return address;
  const hops = forwardedFor.split(',');
  while (hops.length > 0 && trusted.has(address)) {
    const hop = parseAddress(withoutPort((hops.pop() ?? '').trim()));
    if (hop === undefined) break;
    address = hop.toString();
  }
  return address;
}

const WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|(\d+(?:\.\d+){3}):\d+)$/;

/** Some proxies add the port, and brackets around IPv6, as in `Forwarded` (RFC 7239 section 6). */
function withoutPort(hop: string): string {
  const [, ipv6, ipv4] = WITH_PORT.exec(hop) ?? [];
  return ipv6 ?? ipv4 ?? hop;
}
