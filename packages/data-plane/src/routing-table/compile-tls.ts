import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
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

/**
 * Decrypts the client key once per table.
 *
 * @throws Error if a certificate or the key could not be used for a connection
 */
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
  // Node takes roots that it cannot read for none, and every handshake would fail.
  if (ca !== undefined) readCertificate(ca, 'root');
  if (given === undefined) return compiled(undefined, undefined);
  const certificate = readCertificate(given.cert_pem, 'client');
  try {
    const key = opener.openClientKey(given.key, serviceId);
    requireKeyOf(certificate, key);
    return compiled({ cert: given.cert_pem, key }, undefined);
  } catch (error) {
    if (!(error instanceof SecretUnreadableError)) throw error;
    return compiled(undefined, { usable: false, reason: error.reason, sealed: given.key });
  }
}

/** @throws Error without the text of OpenSSL, which could quote a part of the configuration */
function readCertificate(pem: string, which: 'root' | 'client'): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new Error(`the ${which} certificate for its upstreams cannot be read`);
  }
}

function requireKeyOf(certificate: X509Certificate, keyPem: string): void {
  let isPair = false;
  try {
    isPair = certificate.checkPrivateKey(createPrivateKey(keyPem));
  } catch {
    // The text of OpenSSL could quote a part of the key.
  }
  if (!isPair)
    throw new Error('the client key for its upstreams does not belong to the certificate');
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
