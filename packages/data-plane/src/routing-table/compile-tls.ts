import { createHash } from 'node:crypto';
import { SecretUnreadableError } from '@gateway/shared/secrets/secret-vault';
import type { SnapshotTls } from '@gateway/shared/snapshot/schema';
import type { CredentialOpener, UnusableCredential } from './compile-credential.ts';

/** TLS settings for connections to the upstreams of a service. */
export interface UpstreamTls {
  /** Identifies these settings; a connection made with other settings is never used. */
  readonly fingerprint: string;
  /** PEM; replaces the root certificates of this process. */
  readonly ca: string | undefined;
  readonly serverName: string | undefined;
  readonly clientCertificate: { readonly cert: string; readonly key: string } | undefined;
}

export interface CompiledTls {
  readonly source: SnapshotTls;
  readonly tls: UpstreamTls;
  /** Set if the client key cannot be decrypted: nothing may be sent without it. */
  readonly unusable: UnusableCredential | undefined;
}

/** Decrypts the client key once per table. */
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

/** Whether the settings are unchanged. */
export function isSameTls(
  known: CompiledTls | undefined,
  source: SnapshotTls | undefined,
): boolean {
  return JSON.stringify(known?.source) === JSON.stringify(source);
}

/** Covers the public parts only: a certificate has one key, and encrypting a key again changes nothing. */
function fingerprintOf(parts: readonly (string | undefined)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
}
