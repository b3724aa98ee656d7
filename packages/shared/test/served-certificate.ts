import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { systemClock } from '../src/clock.ts';
import type { CertificateFiles } from '../src/tls/key-pair.ts';
import { openServedCertificate } from '../src/tls/served-certificate.ts';
import type { ServedCertificate } from '../src/tls/served-certificate.ts';
import type { TestAuthority } from './certificates.ts';

export interface TestCertificateFiles extends CertificateFiles {
  /** Replaces the files with a new pair for these names. */
  write(names: readonly string[]): Promise<void>;
  remove(): Promise<void>;
}

/** Writes a certificate and its key into a new folder, which `remove` deletes. */
export async function writeCertificateFiles(
  authority: TestAuthority,
  names: readonly string[],
): Promise<TestCertificateFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-tls-'));
  const files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
  const write = async (wanted: readonly string[]) => {
    const { certPem, keyPem } = authority.issue(wanted);
    await writeFile(files.certFile, certPem);
    await writeFile(files.keyFile, keyPem);
  };
  await write(names);
  return { ...files, write, remove: () => rm(folder, { recursive: true }) };
}

/** A served certificate from such files, and a folder of others. They are read again when the test reloads it. */
export function openTestCertificate(
  files: CertificateFiles,
  folder?: string,
): Promise<ServedCertificate> {
  return openServedCertificate({
    files,
    folder,
    intervalMs: 3_600_000,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    registry: new Registry(),
  });
}
