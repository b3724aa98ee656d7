import type { SecureContextOptions } from 'node:tls';
import type { UpstreamTls } from '../routing-table/compile-tls.ts';

/** What a service trusts and shows, TLS 1.2 or newer. */
export function contextOptions(tls: UpstreamTls): SecureContextOptions {
  return {
    minVersion: 'TLSv1.2',
    ...(tls.ca !== undefined && { ca: tls.ca }),
    ...tls.clientCertificate,
  };
}
