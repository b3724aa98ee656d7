import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SealedSecret } from '@gateway/shared/secrets/secret-vault';
import { z } from 'zod';
import { objectField, stringField } from '@gateway/shared/definitions/fields';
import { timeField } from '../fields/response-fields.ts';

const MAX_CA_CHARS = 256 * 1024;
const MAX_CERT_CHARS = 64 * 1024;
const MAX_KEY_CHARS = 16 * 1024;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function certificatesField(maxChars: number) {
  const error = `must be one or more certificates in PEM, at most ${maxChars} characters`;
  return z
    .string({ error: 'must be a string' })
    .max(maxChars, { error })
    .refine(holdsCertificates, { error });
}

/** NUL and lone surrogates, which Postgres cannot store. */
const NOT_STORABLE = /[\0\p{Cs}]/u;

/** Whether the text contains certificates and no other PEM block. */
function holdsCertificates(text: string): boolean {
  if (NOT_STORABLE.test(text)) return false;
  const found = text.match(CERTIFICATE) ?? [];
  if (found.length === 0 || text.replaceAll(CERTIFICATE, '').includes('-----')) return false;
  try {
    for (const pem of found) new X509Certificate(pem);
    return true;
  } catch {
    // The message of the field is enough; OpenSSL's would add nothing.
    return false;
  }
}

const keyError = `must be an unencrypted private key in PEM, at most ${MAX_KEY_CHARS} characters`;

const EXAMPLE_CERTIFICATE = '-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----';
const EXAMPLE_KEY = '-----BEGIN PRIVATE KEY-----\nMIGH…\n-----END PRIVATE KEY-----';

const CA_META = {
  title: 'Trusted roots',
  description: 'The only roots that are trusted, in place of those of the gateway.',
  examples: [EXAMPLE_CERTIFICATE],
};
const SERVER_NAME_META = {
  title: 'Name of the server',
  description: 'Sent as SNI, and expected in the certificate, in place of the host.',
  examples: ['payments.example'],
};
const CERT_META = {
  title: 'Certificate',
  description: 'The certificate that the gateway shows to upstreams, with its chain.',
  examples: [EXAMPLE_CERTIFICATE],
};
const CLIENT_META = {
  title: 'Client certificate',
  description: 'The certificate of the gateway for mutual TLS. null: none.',
};
const TLS_META = {
  title: 'TLS',
  description: 'TLS to upstreams with https. null: the defaults of the gateway.',
};

const clientCertificateField = objectField({
  cert_pem: certificatesField(MAX_CERT_CHARS).meta(CERT_META),
  key_pem: z
    .string({ error: 'must be a string' })
    .max(MAX_KEY_CHARS, { error: keyError })
    .regex(/-----BEGIN (?:RSA |EC )?PRIVATE KEY-----/, { error: keyError })
    .meta({
      title: 'Private key',
      writeOnly: true,
      description: 'The private key of the certificate. No response shows it.',
      examples: [EXAMPLE_KEY],
    }),
}).refine(isPair, { path: ['key_pem'], error: 'must be the private key of cert_pem' });

function isPair(pair: { readonly cert_pem: string; readonly key_pem: string }): boolean {
  try {
    createSecureContext({ cert: pair.cert_pem, key: pair.key_pem });
    return true;
  } catch {
    // OpenSSL's message could hold a part of the key.
    return false;
  }
}

/** A DNS name (RFC 1123 section 2.1), as sent in the handshake (RFC 6066 section 3). */
const serverNameField = stringField(
  /^(?=.{1,253}$)(?!\d+(?:\.\d+){3}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/,
  'must be a DNS name',
);

/**
 * The TLS settings for upstreams with https. An omitted field keeps its value; null removes it (RFC 7396).
 */
export const tlsField = objectField({
  ca_pem: certificatesField(MAX_CA_CHARS).nullable().meta(CA_META).optional(),
  server_name: serverNameField.nullable().meta(SERVER_NAME_META).optional(),
  client_certificate: clientCertificateField.nullable().optional().meta(CLIENT_META),
})
  .nullable()
  .meta(TLS_META);

export type TlsInput = z.output<typeof tlsField>;

/** The TLS settings as stored and shown. The private key is stored separately and never shown. */
export const serviceTlsSchema = z
  .object({
    ca_pem: z.string().nullable().meta(CA_META),
    server_name: z.string().nullable().meta(SERVER_NAME_META),
    client_certificate: z
      .object({
        cert_pem: z.string().meta(CERT_META),
        set_at: timeField('When the certificate was set.'),
      })
      .nullable()
      .meta(CLIENT_META),
  })
  .nullable()
  .meta(TLS_META);

export type ServiceTls = Readonly<NonNullable<z.output<typeof serviceTlsSchema>>>;

export interface TlsSettings {
  readonly tls: ServiceTls | null;
  /** The private key of the client certificate. */
  readonly client_key: SealedSecret | null;
}

export const NO_TLS_SETTINGS: TlsSettings = { tls: null, client_key: null };

/** The TLS settings after a change. Omitted fields keep their values, null removes them. */
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
