import type { TLSSocket } from 'node:tls';
import type { CoversAuthority } from '@gateway/http/exchange';
import { normalHost } from '@gateway/shared/http/normal-path';
import { addressOf, type CertificateNames } from '@gateway/shared/tls/certificate-names';
import type { ServedCertificate } from '@gateway/shared/tls/served-certificate';

/**
 * Which authorities the requests of an HTTP/2 connection may have (RFC 9113 section 9.1.2): those that its certificate
 * covers, and the one that it was opened for. So a new connection for a host always takes its requests, also if no
 * certificate covers the host.
 *
 * @returns undefined if the port has one certificate for everything: then any authority
 */
export function authoritiesOf(
  socket: TLSSocket,
  { names: ofPort, folder }: ServedCertificate,
): CoversAuthority | undefined {
  if (folder === undefined || folder.count('served') === 0) return undefined;
  // Node types it as a string. It is false without SNI.
  const { servername } = socket as { readonly servername?: string | false | null };
  let openedFor: string | undefined;
  let names: CertificateNames = ofPort;
  const openFor = (host: string) => {
    openedFor = host;
    names = folder.select(host)?.names ?? ofPort;
  };
  if (typeof servername === 'string' && servername !== '') openFor(normalHost(servername));
  // OpenSSL does not know the name of a resumed session of TLS 1.2. It is that of the first request.
  let isUnknown =
    openedFor === undefined && socket.isSessionReused() && socket.getProtocol() === 'TLSv1.2';
  let lastCovered: string | undefined;
  return (authority) => {
    if (authority === lastCovered) return true;
    const host = normalHost(authority);
    if (isUnknown) {
      isUnknown = false;
      openFor(host);
    }
    const isOwn = openedFor === undefined ? addressOf(host) !== undefined : host === openedFor;
    if (!isOwn && !names.covers(host)) return false;
    lastCovered = authority;
    return true;
  };
}
