import { createHash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';

export interface CertificateFiles {
  /** PEM: the certificate, followed by intermediate certificates. */
  readonly certFile: string;
  /** PEM, not encrypted. */
  readonly keyFile: string;
}

/** What the files hold. */
export interface KeyPairBytes {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** A certificate and its key, which fit. */
export interface KeyPair {
  readonly options: SecureContextOptions;
  readonly context: SecureContext;
  readonly certificate: X509Certificate;
}

/** @throws Error that names the file that cannot be read */
export async function readKeyPair(files: CertificateFiles): Promise<KeyPairBytes> {
  const [cert, key] = await Promise.all([readPart(files.certFile), readPart(files.keyFile)]);
  return { cert, key };
}

async function readPart(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const { code = 'error' } = cause as NodeJS.ErrnoException;
    throw new Error(`${path} cannot be read (${code})`, { cause });
  }
}

/** Tells whether files have changed, without keeping a key. */
export function digestOf({ cert, key }: KeyPairBytes): string {
  return createHash('sha256').update(cert).update('\0').update(key).digest('base64');
}

/**
 * Uses Node's default ciphers. TLS 1.2 is set explicitly, because options of Node can change the default.
 *
 * @param names of both, for the error, which contains nothing of the key
 * @throws Error of one line if they are not a certificate and its key
 */
export function openKeyPair({ cert, key }: KeyPairBytes, names: string): KeyPair {
  const options = { cert, key, minVersion: 'TLSv1.2', honorCipherOrder: true } as const;
  try {
    const certificate = new X509Certificate(cert);
    return { options, context: createSecureContext(options), certificate };
  } catch (cause) {
    const { code = 'error' } = cause as NodeJS.ErrnoException;
    throw new Error(`${names} are not a certificate and its key (${code})`, { cause });
  }
}

/** When a certificate expires, ms since the Unix epoch. */
export function expiryMs(certificate: X509Certificate): number {
  return Date.parse(certificate.validTo);
}
