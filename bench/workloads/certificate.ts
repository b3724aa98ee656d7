import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createTestAuthority } from '@gateway/shared/test/certificates';

/** In the folder of the run. HAProxy reads certificate and key from one file. */
export const CERTIFICATE_FILES = {
  certificate: 'certificate.pem',
  key: 'key.pem',
  both: 'certificate-and-key.pem',
} as const;

/** Writes a certificate for 127.0.0.1 (ECDSA on P-256) into the folder of a run. */
export async function writeCertificate(folder: string): Promise<void> {
  const { certPem, keyPem } = createTestAuthority('bench').issue(['127.0.0.1']);
  const { certificate, key, both } = CERTIFICATE_FILES;
  const files = [
    [certificate, certPem],
    [key, keyPem],
    [both, `${certPem}\n${keyPem}`],
  ] as const;
  for (const [name, text] of files) await writeFile(path.join(folder, name), text);
}
