import { parseAddressRanges, type AddressRanges } from './client-address.ts';
import { embeddedAddresses } from './embedded-addresses.ts';

/** Addresses of this machine; refused as upstreams outside the local stack. */
export const LOOPBACK_CIDRS = ['127.0.0.0/8', '::1/128', '0.0.0.0/8', '::/128'] as const;

/**
 * Addresses that are never an upstream: link-local, which holds the metadata service of most clouds
 * (169.254.169.254), and those that others have elsewhere: the IPv6 one of AWS, Alibaba's, Azure's
 * and Oracle's.
 */
export const METADATA_CIDRS = [
  ...(['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254/128'] as const),
  ...(['100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'] as const),
] as const;

export const DEFAULT_UPSTREAM_DENY_CIDRS = [...METADATA_CIDRS, ...LOOPBACK_CIDRS] as const;

/** RFC 6761 section 6.3: these are this machine, whatever a resolver would say. */
const LOOPBACK_NAME = /^(?:.+\.)?localhost$/;

/**
 * Whether no upstream may be at the address: it is denied itself, or it is an IPv6 address that leads
 * to an IPv4 address that is (see embedded-addresses.ts). A text that is no address is not denied.
 */
export function isDeniedAddress(address: string, deny: AddressRanges): boolean {
  return deny.has(address) || embeddedAddresses(address).some((inner) => deny.has(inner));
}

/**
 * Whether no upstream may be at the host of a URL, as far as can be told without resolving it: an
 * address that is denied, or a name of this machine where loopback is.
 */
export function isDeniedHost(host: string, deny: AddressRanges): boolean {
  if (isDeniedAddress(host, deny)) return true;
  return LOOPBACK_NAME.test(host.replace(/\.$/, '').toLowerCase()) && deny.has('127.0.0.1');
}

/** The host of a URL without the brackets that an IPv6 address has there. */
export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** Why a text is not an upstream URL, or undefined where it is one. */
export function refuseUpstreamUrl(text: string, deny: AddressRanges): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // URL mends `http:host` and `http:///host`, in which others see no host at all.
  if (url === undefined || !/^[a-z]+:\/\/[^/]/i.test(text)) return 'must be an absolute URL';
  if (url.port === '0') return 'must not name port 0';
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must be an http or https URL';
  // URL forgets user info that is empty.
  if (url.username !== '' || url.password !== '' || /^[a-z]+:\/\/[^/?#]*@/i.test(text)) {
    return 'must not carry user info';
  }
  if (text.includes('#')) return 'must not carry a fragment';
  if (text.includes('?')) return 'must not carry a query';
  // URL has already turned decimal, octal and hexadecimal forms of IPv4 into the dotted one.
  const host = bareHost(url);
  // No name has an empty label (RFC 1035 section 2.3.1), and resolvers differ on what they make of one.
  if (/^\.|\.\./.test(host)) return 'must name a host without empty parts';
  if (isDeniedHost(host, deny)) {
    return `must not be at ${host}: UPSTREAM_DENY_CIDRS refuses this address`;
  }
  return undefined;
}

export { parseAddressRanges, type AddressRanges };
