import { z } from 'zod';
import { integerVariable } from '../config/environment.ts';
import type { CertificateFiles } from './key-pair.ts';

/** The TLS settings of a public port: both files or neither. */
export const tlsVariables = {
  TLS_CERT_FILE: z.string().optional(),
  TLS_KEY_FILE: z.string().optional(),
  TLS_RELOAD_INTERVAL_MS: integerVariable(100, 86_400_000).default(10_000),
};

export interface TlsSettings {
  readonly TLS_CERT_FILE?: string | undefined;
  readonly TLS_KEY_FILE?: string | undefined;
  /** A folder of certificates for names; a data plane has it. */
  readonly TLS_CERT_DIR?: string | undefined;
}

/**
 * One file without the other is a mistake: the port would be served without TLS. So is the folder without both: a caller
 * without a name, or with one that the folder does not have, would get no certificate.
 */
export function requireBothTlsFiles(settings: TlsSettings, context: z.RefinementCtx): void {
  const { TLS_CERT_FILE: cert, TLS_KEY_FILE: key, TLS_CERT_DIR: folder } = settings;
  if (folder !== undefined && cert === undefined && key === undefined) {
    const message = 'needs TLS_CERT_FILE and TLS_KEY_FILE, the pair for all other names';
    context.addIssue({ code: 'custom', path: ['TLS_CERT_DIR'], message });
    return;
  }
  if ((cert === undefined) === (key === undefined)) return;
  const path = [cert === undefined ? 'TLS_CERT_FILE' : 'TLS_KEY_FILE'];
  context.addIssue({ code: 'custom', path, message: 'is not set' });
}

/** The files of certificate and key; undefined: the port is served without TLS. */
export function certificateFiles(settings: TlsSettings): CertificateFiles | undefined {
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = settings;
  return certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile };
}
