import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { createTestAuthority, type TestAuthority } from '@gateway/shared/test/certificates';
import {
  openTestCertificate,
  writeCertificateFiles,
} from '@gateway/shared/test/served-certificate';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { startTestDataPath, type TestDataPath, type TestDataPathOptions } from './data-path.ts';

export interface SecureDataPath extends TestDataPath {
  /** Signs what the gateway shows. */
  readonly authority: TestAuthority;
  /** A connection of HTTP/2. */
  connectHttp2(): ClientHttp2Session;
  /** Has the files of certificates read. */
  reloadCertificates(): Promise<void>;
  /** Writes a new pair to the files and has it read. */
  replaceCertificate(names: readonly string[]): Promise<void>;
}

export interface SecureDataPathOptions extends TestDataPathOptions {
  /** Leave out to have one certificate for everything. */
  readonly certificateFolder?: string;
  /** Signs what the gateway shows; made for this test unless given. */
  readonly authority?: TestAuthority;
}

/** A data path whose port has TLS, with a certificate for 127.0.0.1 that is made for this test. */
export async function startSecureDataPath(
  route: Partial<SnapshotRoute> & { readonly upstreams: readonly string[] },
  options: SecureDataPathOptions = {},
): Promise<SecureDataPath> {
  const { authority = createTestAuthority('data path') } = options;
  const files = await writeCertificateFiles(authority, ['127.0.0.1']);
  const certificate = await openTestCertificate(files, options.certificateFolder);
  const dataPath = await startTestDataPath(route, { ...options, certificate });
  const stop = async () => {
    await dataPath.stop();
    certificate.stop();
    await files.remove();
  };
  let stopping: Promise<void> | undefined;
  return {
    ...dataPath,
    authority,
    connectHttp2: () => connectHttp2(dataPath.url, { ca: authority.certPem }),
    reloadCertificates: () => certificate.reload(),
    async replaceCertificate(names) {
      await files.write(names);
      await certificate.reload();
    },
    stop: () => (stopping ??= stop()),
  };
}
