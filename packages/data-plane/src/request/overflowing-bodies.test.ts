import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http2';
import { createServer, request as httpsRequest } from 'node:https';
import { Readable, type Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { listen } from '@gateway/shared/test/upstream';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startSecureDataPath } from '../../test/secure-data-path.ts';

const opened = closeAfterEach();
/** More than 1 MiB, which is the most of a body that is kept for retries. */
const SIZES = [1_500_000, 2_500_000, 3_500_000];
const PIECE_BYTES = 100_000;

/** Answers with the size of the body. A write over TLS never ends at once, so each part makes the stream wait. */
async function setUp() {
  const authority = createTestAuthority('upstreams');
  const { certPem, keyPem } = authority.issue(['127.0.0.1']);
  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => void (bytes += chunk.length));
    request.on('end', () => response.end(String(bytes)));
  });
  const { url } = opened(await listen(server));
  const token = createTokenSecret();
  const route = { upstreams: [url.replace('http:', 'https:')], retry_count: 1, timeout_ms: 20_000 };
  const snapshot = testSnapshot(route, token);
  const services = snapshot.services.map((service) => ({
    ...service,
    tls: { ca_pem: authority.certPem },
  }));
  const options = { snapshots: [{ ...snapshot, services }] };
  const gateway = opened(await startSecureDataPath({ upstreams: [] }, options));
  return { gateway, headers: { authorization: `Bearer ${token}` } };
}

/** Sends a body of unknown length. */
function send(bytes: number, to: Writable): void {
  const pieces = function* () {
    for (let left = bytes; left > 0; left -= PIECE_BYTES) {
      yield Buffer.alloc(Math.min(left, PIECE_BYTES));
    }
  };
  Readable.from(pieces()).pipe(to);
}

async function textOf(from: Readable): Promise<string> {
  return String(Buffer.concat(await from.toArray()));
}

describe('a body of unknown length that is larger than what is kept of it', () => {
  it('reaches an upstream with TLS whole', async () => {
    const { gateway, headers } = await setUp();
    const answers = SIZES.map(async (bytes) => {
      const options = { method: 'PUT', headers, ca: gateway.authority.certPem };
      const request = httpsRequest(`${gateway.url}/v1/proxy/test`, options);
      send(bytes, request);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return [response.statusCode, await textOf(response)];
    });
    expect(await Promise.all(answers)).toEqual(SIZES.map((bytes) => [200, String(bytes)]));
  });

  it('reaches it whole over HTTP/2', async () => {
    const { gateway, headers } = await setUp();
    const session = gateway.connectHttp2();
    const answers = SIZES.map(async (bytes) => {
      const stream = session.request({ ...headers, ':method': 'PUT', ':path': '/v1/proxy/test' });
      send(bytes, stream);
      const [response] = (await once(stream, 'response')) as [IncomingHttpHeaders];
      return [response[':status'], await textOf(stream)];
    });
    expect(await Promise.all(answers)).toEqual(SIZES.map((bytes) => [200, String(bytes)]));
    session.destroy();
  });
});
