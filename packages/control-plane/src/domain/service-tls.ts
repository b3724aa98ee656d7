import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SealedSecret } from '@gateway/shared/secrets/secret-vault';
import { z } from 'zod';
import { objectField, textField } from './fields.ts';

const MAX_CA_CHARS = 256 * 1024;
const MAX_CERT_CHARS = 64 * 1024;
const MAX_KEY_CHARS = 16 * 1024;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function certificatesField(maxChars: number) {
  const error = `must be one or more certificates in PEM, at most ${maxChars} characters`;
  return z
    .string({ error: 'must be a text' })
    .max(maxChars, { error })
    .refine(holdsCertificates, { error });
}

/** NUL, and half a surrogate pair: Postgres keeps neither in a text. */
const NO_TEXT = /[\0\p{Cs}]/u;

/** Whether the text is certificates and nothing else that a reader could make something of. */
function holdsCertificates(text: string): boolean {
  if (NO_TEXT.test(text)) return false;
  const found = text.match(CERTIFICATE) ?? [];
  if (found.length === 0 || text.replaceAll(CERTIFICATE, '').includes('-----')) return false;
  try {
    for (const pem of found) new X509Certificate(pem);
    return true;
  } catch {
    // What it says of the text need not be told: the field is not what it must be.
    return false;
  }
}

const keyError = `must be an unencrypted private key in PEM, at most ${MAX_KEY_CHARS} characters`;

const clientCertificateField = objectField({
  cert_pem: certificatesField(MAX_CERT_CHARS),
  key_pem: z
    .string({ error: 'must be a text' })
    .max(MAX_KEY_CHARS, { error: keyError })
    .regex(/-----BEGIN (?:RSA |EC )?PRIVATE KEY-----/, { error: keyError })
    .meta({ writeOnly: true, description: 'Never shown again.' }),
}).refine(isPair, { path: ['key_pem'], error: 'must be the private key of cert_pem' });

function isPair(pair: { readonly cert_pem: string; readonly key_pem: string }): boolean {
  try {
    createSecureContext({ cert: pair.cert_pem, key: pair.key_pem });
    return true;
  } catch {
    // OpenSSL's words could tell of the key.
    return false;
  }
}

/** A DNS name (RFC 1123 section 2.1), as sent in the handshake (RFC 6066 section 3). */
const serverNameField = textField(
  /^(?=.{1,253}$)(?!\d+(?:\.\d+){3}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/,
  'must be a DNS name',
);

/**
 * How upstreams with https are connected to. What is left out stays as it is, null takes it back
 * (RFC 7396).
 */
export const tlsField = objectField({
  ca_pem: certificatesField(MAX_CA_CHARS)
    .nullable()
    .meta({ description: 'Trusted in place of the roots that come with the gateway.' })
    .optional(),
  server_name: serverNameField
    .nullable()
    .meta({ description: 'Asked for, and looked for in the certificate, in place of the host.' })
    .optional(),
  client_certificate: clientCertificateField.nullable().optional(),
}).nullable();

export type TlsInput = z.output<typeof tlsField>;

/** As it is stored, and shown: without the private key. */
export interface ServiceTls {
  readonly ca_pem: string | null;
  readonly server_name: string | null;
  readonly client_certificate: { readonly cert_pem: string; readonly set_at: string } | null;
}

export interface TlsSettings {
  readonly tls: ServiceTls | null;
  /** The private key of the client certificate. */
  readonly client_key: SealedSecret | null;
}

export const NO_TLS_SETTINGS: TlsSettings = { tls: null, client_key: null };

/** The settings after what a body asks for. */
export function tlsOf(
  input: TlsInput | undefined,
  before: TlsSettings,
  sealKey: (keyPem: string) => SealedSecret,
  now: Date,
): TlsSettings {
  if (input === undefined) return { tls: before.tls, client_key: before.client_key };
  if (input === null) return NO_TLS_SETTINGS;
  const { ca_pem, server_name, client_certificate: given } = input;
  const kept = before.tls ?? { ca_pem: null, server_name: null, client_certificate: null };
  const tls = {
    ca_pem: ca_pem === undefined ? kept.ca_pem : ca_pem,
    server_name: server_name === undefined ? kept.server_name : server_name,
    client_certificate: kept.client_certificate,
  };
  if (given === undefined) return { tls: orNone(tls), client_key: before.client_key };
  if (given === null)
    return { tls: orNone({ ...tls, client_certificate: null }), client_key: null };
  const client_certificate = { cert_pem: given.cert_pem, set_at: now.toISOString() };
  return { tls: { ...tls, client_certificate }, client_key: sealKey(given.key_pem) };
}

function orNone(tls: ServiceTls): ServiceTls | null {
  const { ca_pem, server_name, client_certificate } = tls;
  return ca_pem === null && server_name === null && client_certificate === null ? null : tls;
}
