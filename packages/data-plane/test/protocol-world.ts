import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createSecureServer, type Http2ServerResponse } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Snapshot, SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath, type TestDataPathOptions } from './data-path.ts';

const authority = createTestAuthority('protocols');
export const certificate = authority.issue(['127.0.0.1']);
const pem = { cert: certificate.certPem, key: certificate.keyPem };
const token = createTokenSecret();

export type Protocol = Snapshot['services'][number]['protocol'];

/** A snapshot of `production` with one service of this protocol. */
export function snapshotOf(
  urls: readonly string[],
  protocol: Protocol,
  { version = 1, ...route }: Partial<SnapshotRoute> & { version?: number } = {},
): Snapshot {
  const plain = testSnapshot({ upstreams: urls, retry_count: 0, ...route }, token);
  const tls = urls.some((url) => url.startsWith('https:')) && {
    tls: { ca_pem: authority.certPem },
  };
  const services = plain.services.map((service) => ({ ...service, protocol, ...tls }));
  return { ...plain, version, services };
}

/** A data path whose only service has this protocol and these upstreams, without retries. */
export async function startProtocolPath(
  urls: readonly string[],
  protocol: Protocol,
  route: Partial<SnapshotRoute> = {},
  options: TestDataPathOptions = {},
) {
  const snapshots = [snapshotOf(urls, protocol, route)];
  const gateway = await startTestDataPath({ upstreams: [] }, { ...options, snapshots });
  const call = (init: RequestInit = {}) =>
    fetch(`${gateway.url}/v1/proxy/test`, {
      ...init,
      headers: { authorization: `Bearer ${token}` },
    });
  const post = (body: string) => call({ method: 'POST', body });
  return { gateway, call, post, stop: () => gateway.stop() };
}

/** The versions and the ports of the requests of a server. */
type Seen = { version: string; port: number | undefined }[];

async function listen(server: Server, seen: Seen) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { url: `https://127.0.0.1:${port}`, seen, connections: () => sockets.size, close };
}

/** How a server of both versions answers a request. */
export type AnswerOfBoth = (response: Http2ServerResponse) => void;

/** A server with TLS that chooses what the client offers. */
export function startBoth(answer: AnswerOfBoth = (response) => void response.end('ok')) {
  const seen: Seen = [];
  const server = createSecureServer({ ...pem, allowHTTP1: true }, (request, response) => {
    seen.push({ version: request.httpVersion, port: request.socket.remotePort });
    answer(response);
  });
  return listen(server, seen);
}

/** A server with TLS that speaks HTTP/1.1 only: it refuses a client that does not offer it, or knows nothing of ALPN. */
export function startHttp1(kind: 'refuses' | 'chooses nothing') {
  const seen: Seen = [];
  const answer: RequestListener = (request, response) => {
    seen.push({ version: request.httpVersion, port: request.socket.remotePort });
    response.end('ok');
  };
  if (kind === 'refuses') {
    const server = createHttpsServer(pem, answer);
    server.on('tlsClientError', () => undefined);
    return listen(server, seen);
  }
  const plain = createHttpServer(answer);
  return listen(
    createTlsServer(pem, (socket) => void plain.emit('connection', socket)),
    seen,
  );
}
