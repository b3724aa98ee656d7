import type { Runner } from '../runner.ts';
import {
  openServedCertificate,
  type ServedCertificate,
  type ServedCertificateOptions,
} from './served-certificate.ts';
import { certificateFiles, type TlsSettings } from './tls-variables.ts';

type OpenOptions = Omit<ServedCertificateOptions, 'files' | 'folder' | 'intervalMs'>;

/**
 * Opens the certificates of a process, if its settings name one. SIGHUP reloads the files at once.
 *
 * @throws Error of one line if the certificate is not valid, or the folder of others cannot be read
 */
export async function openCertificate(
  settings: TlsSettings & { readonly TLS_RELOAD_INTERVAL_MS: number },
  runner: Runner,
  options: OpenOptions,
): Promise<ServedCertificate | undefined> {
  const files = certificateFiles(settings);
  if (files === undefined) return undefined;
  const intervalMs = settings.TLS_RELOAD_INTERVAL_MS;
  const folder = settings.TLS_CERT_DIR;
  const certificate = await openServedCertificate({ ...options, files, folder, intervalMs });
  process.on('SIGHUP', () => void certificate.reload());
  runner.defer('certificate', () => certificate.stop());
  return certificate;
}
