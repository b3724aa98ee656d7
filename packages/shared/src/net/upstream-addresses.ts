import { parseAddressRanges, type AddressRanges } from './client-address.ts';
import { embeddedAddresses } from './embedded-addresses.ts';

/** Addresses of this machine. They are denied as upstreams outside the local stack. */
export const LOOPBACK_CIDRS = ['127.0.0.0/8', '::1/128', '0.0.0.0/8', '::/128'] as const;

/**
 * Addresses of metadata services, which must not be upstreams: link-local, which contains that of most clouds
 * (169.254.169.254), and those of AWS over IPv6, Alibaba, Azure and Oracle.
 */
export const METADATA_CIDRS = [
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::254/128',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
] as const;

export const DEFAULT_UPSTREAM_DENY_CIDRS = [...METADATA_CIDRS, ...LOOPBACK_CIDRS] as const;

/** Names that mean this machine, whatever a resolver returns (RFC 6761 section 6.3). */
const LOOPBACK_NAME = /^(?:.+\.)?localhost$/;

/**
 * Whether the address is denied as an upstream: it is in a denied range, or it is an IPv6 address that leads to an IPv4
 * address in one (see embedded-addresses.ts). Text that is not an address is not denied.
 */
export function isDeniedAddress(address: string, deny: AddressRanges): boolean {
  return deny.has(address) || embeddedAddresses(address).some((inner) => deny.has(inner));
}

/**
 * Whether the host of a URL is denied as an upstream, without resolving it: a denied address, or a name of this machine if
 * loopback is denied.
 */
export function isDeniedHost(host: string, deny: AddressRanges): boolean {
  if (isDeniedAddress(host, deny)) return true;
  return LOOPBACK_NAME.test(host.replace(/\.$/, '').toLowerCase()) && deny.has('127.0.0.1');
}

/** The host of a URL without the brackets that an IPv6 address has there. */
export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** Why a text is not a valid upstream URL; undefined if it is valid. */
export function refuseUpstreamUrl(text: string, deny: AddressRanges): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // URL accepts `http:host` and `http:///host`, in which other parsers find no host.
  if (url === undefined || !/^[a-z]+:\/\/[^/]/i.test(text)) {
    return 'must be an absolute URL, such as https://api.example.com';
  }
  if (url.port === '0') return 'must not have port 0';
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must be an http or https URL';
  // URL drops empty user info.
  if (url.username !== '' || url.password !== '' || /^[a-z]+:\/\/[^/?#]*@/i.test(text)) {
    return 'must not have a user name or password';
  }
  if (text.includes('#')) return 'must not have a fragment';
  if (text.includes('?')) return 'must not have a query';
  // URL has already converted decimal, octal and hexadecimal IPv4 to dotted form.
  const host = bareHost(url);
  // Names have no empty labels (RFC 1035 section 2.3.1), and resolvers treat them differently.
  if (/^\.|\.\./.test(host)) return 'must have a host without empty labels';
  if (isDeniedHost(host, deny)) {
    return `must not be at ${host}: UPSTREAM_DENY_CIDRS refuses this address`;
  }
  return undefined;
}

export { parseAddressRanges, type AddressRanges };
