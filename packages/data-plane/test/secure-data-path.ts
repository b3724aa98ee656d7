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
  /** Writes a new pair to the files and has it read. */
  replaceCertificate(names: readonly string[]): Promise<void>;
}

/** A data path whose port has TLS, with a certificate for 127.0.0.1 that is made for this test. */
export async function startSecureDataPath(
  route: Partial<SnapshotRoute> & { readonly upstreams: readonly string[] },
  options: TestDataPathOptions = {},
): Promise<SecureDataPath> {
  const authority = createTestAuthority('data path');
  const files = await writeCertificateFiles(authority, ['127.0.0.1']);
  const certificate = await openTestCertificate(files);
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
    async replaceCertificate(names) {
      await files.write(names);
      await certificate.reload();
    },
    stop: () => (stopping ??= stop()),
  };
}
