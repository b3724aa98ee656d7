import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';

/**
 * An entry of `subjectAltName` as Node writes them: one with a comma or another special character is a JSON string, so
 * that no entry can look like two.
 */
const ENTRY = /([A-Za-z0-9 ]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/y;
/** A name, or a wildcard for its whole first label (RFC 9525 section 6.3). Partial wildcards match nothing. */
const DNS_NAME = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/**
 * The hosts that a certificate is for: those of its `subjectAltName`. The common name of the subject does not count
 * (RFC 9525 section 2).
 */
export class CertificateNames {
  /** In lower case; a wildcard begins with `*.`. */
  readonly dns: ReadonlySet<string>;
  readonly #certificate: X509Certificate;

  constructor(certificate: X509Certificate) {
    this.#certificate = certificate;
    this.dns = new Set(dnsNames(certificate.subjectAltName ?? ''));
  }

  /** @param host in lower case, without a port and a trailing dot; an IPv6 address in brackets */
  covers(host: string): boolean {
    if (this.dns.has(host)) return true;
    const address = addressOf(host);
    if (address !== undefined) return this.#certificate.checkIP(address) !== undefined;
    const wildcard = wildcardOf(host);
    return wildcard !== undefined && this.dns.has(wildcard);
  }
}

function dnsNames(text: string): string[] {
  const names: string[] = [];
  ENTRY.lastIndex = 0;
  for (let entry = ENTRY.exec(text); entry !== null; entry = ENTRY.exec(text)) {
    const [, kind, value = ''] = entry;
    const name = value.toLowerCase();
    if (kind === 'DNS' && DNS_NAME.test(name)) names.push(name);
  }
  return names;
}

/** The wildcard that covers a name: for exactly one label, the first. */
export function wildcardOf(host: string): string | undefined {
  const dot = host.indexOf('.');
  return dot > 0 ? `*${host.slice(dot)}` : undefined;
}

/** The address, if a host is one. */
export function addressOf(host: string): string | undefined {
  const address = host.startsWith('[') ? host.slice(1, -1) : host;
  return isIP(address) === 0 ? undefined : address;
}
