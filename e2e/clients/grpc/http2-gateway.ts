import { createTestAuthority } from '@gateway/shared/test/certificates';
import { writeCertificateFiles } from '@gateway/shared/test/served-certificate';
import { startGateway } from '../../harness/gateway.ts';
import type { PairGateway } from '../harness/test-pairs.ts';

/** A gateway with two data planes: one serves HTTP/2 without TLS too, one with. */
export async function startHttp2Gateway(): Promise<PairGateway> {
  const authority = createTestAuthority('clients');
  const files = await writeCertificateFiles(authority, ['localhost', '127.0.0.1']);
  const gateway = await startGateway({
    dataPlaneStart: () => ({ env: { HTTP2_CLEARTEXT: 'on' } }),
  });
  const { certFile, keyFile } = files;
  const { ports } = await gateway.stack.startDataPlane({
    env: { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile },
  });
  return {
    ...gateway,
    secure: { baseUrl: `https://127.0.0.1:${Number(ports[0])}`, ca: authority.certPem },
    async close() {
      await gateway.close();
      await files.remove();
    },
  };
}
