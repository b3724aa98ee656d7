import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@gateway/shared/clock';
import { createTestAuthority, type TestAuthority } from '@gateway/shared/testing/certificates';
import {
  openServedCertificate,
  type ServedCertificate,
} from '@gateway/shared/tls/served-certificate';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { startTestDataPath, type TestDataPath, type TestDataPathOptions } from './data-path.ts';

export interface SecureDataPath extends TestDataPath {
  /** Signs what the gateway shows. */
  readonly authority: TestAuthority;
  readonly certificate: ServedCertificate;
  /** A connection of HTTP/2. */
  connectHttp2(): ClientHttp2Session;
  /** Writes a new pair to the files and has it read. */
  replaceCertificate(names: readonly string[]): Promise<void>;
}

/** A data path whose port has TLS, with a certificate made for this test in files of its own. */
export async function startSecureDataPath(
  route: Partial<SnapshotRoute> & { readonly upstreams: readonly string[] },
  options: TestDataPathOptions = {},
): Promise<SecureDataPath> {
  const authority = createTestAuthority('data path');
  const folder = await mkdtemp(join(tmpdir(), 'gateway-tls-'));
  const files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
  const write = async (names: readonly string[]) => {
    const { certPem, keyPem } = authority.issue(names);
    await writeFile(files.certFile, certPem);
    await writeFile(files.keyFile, keyPem);
  };
  await write(['127.0.0.1']);
  const certificate = await openServedCertificate({
    ...{ files, intervalMs: 60_000, clock: systemClock },
    ...{ log: pino({ level: 'silent' }), registry: new Registry() },
  });
  const dataPath = await startTestDataPath(route, { ...options, certificate });
  return {
    ...dataPath,
    authority,
    certificate,
    connectHttp2: () => connectHttp2(dataPath.url, { ca: authority.certPem }),
    async replaceCertificate(names) {
      await write(names);
      await certificate.reload();
    },
    async stop() {
      await dataPath.stop();
      certificate.stop();
      await rm(folder, { recursive: true });
    },
  };
}
