import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { systemClock } from '../src/clock.ts';
import { openServedCertificate, type CertificateFiles } from '../src/tls/served-certificate.ts';
import type { ServedCertificate } from '../src/tls/served-certificate.ts';
import type { TestAuthority } from './certificates.ts';

export interface TestCertificateFiles extends CertificateFiles {
  /** Writes a new pair for these names. */
  write(names: readonly string[]): Promise<void>;
  remove(): Promise<void>;
}

/** Certificate and key in files of their own, in a folder that `remove` takes away. */
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

/** What a port shows, read from such files; they are looked at when the test has them reloaded. */
export function openTestCertificate(files: CertificateFiles): Promise<ServedCertificate> {
  return openServedCertificate({
    ...{ files, intervalMs: 3_600_000, clock: systemClock },
    ...{ log: pino({ level: 'silent' }), registry: new Registry() },
  });
}
