import { createHash } from 'node:crypto';
import { SecretUnreadableError } from '@gateway/shared/secrets/secret-vault';
import type { SnapshotTls } from '@gateway/shared/snapshot/schema';
import type { CredentialOpener, UnusableCredential } from './compile-credential.ts';

/** How the upstreams of a service are connected to over TLS. */
export interface UpstreamTls {
  /** Tells these settings from others; connections made with others are not used. */
  readonly fingerprint: string;
  /** PEM, in place of the roots of this process. */
  readonly ca: string | undefined;
  readonly serverName: string | undefined;
  readonly clientCertificate: { readonly cert: string; readonly key: string } | undefined;
}

export interface CompiledTls {
  readonly source: SnapshotTls;
  readonly tls: UpstreamTls;
  /** Set where the client's key cannot be opened: nothing may be sent without it. */
  readonly unusable: UnusableCredential | undefined;
}

/** Opens the client's key once for the whole life of the table. */
export function compileTls(
  source: SnapshotTls | undefined,
  serviceId: string,
  opener: CredentialOpener,
): CompiledTls | undefined {
  if (source === undefined) return undefined;
  const { ca_pem: ca, server_name: serverName, client_certificate: given } = source;
  const compiled = (
    clientCertificate: UpstreamTls['clientCertificate'],
    unusable: UnusableCredential | undefined,
  ): CompiledTls => {
    const fingerprint = fingerprintOf([ca, serverName, clientCertificate?.cert]);
    return { source, tls: { fingerprint, ca, serverName, clientCertificate }, unusable };
  };
  if (given === undefined) return compiled(undefined, undefined);
  try {
    const key = opener.openClientKey(given.key, serviceId);
    return compiled({ cert: given.cert_pem, key }, undefined);
  } catch (error) {
    if (!(error instanceof SecretUnreadableError)) throw error;
    return compiled(undefined, { usable: false, reason: error.reason, sealed: given.key });
  }
}

/** Whether this is what was compiled already. */
export function isSameTls(
  known: CompiledTls | undefined,
  source: SnapshotTls | undefined,
): boolean {
  return JSON.stringify(known?.source) === JSON.stringify(source);
}

/** Of what is public: a certificate has one key, and a key that was only sealed anew changes nothing. */
function fingerprintOf(parts: readonly (string | undefined)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
}
