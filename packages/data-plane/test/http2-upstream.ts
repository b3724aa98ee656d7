import {
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TestCertificate } from '@gateway/shared/test/certificates';

/** A request that has arrived at a server of HTTP/2. */
export interface ArrivedStream {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  /** Counts its connections from 1. */
  readonly connection: number;
}

export interface Http2Upstream {
  readonly port: number;
  readonly url: string;
  /** The connections that are open. */
  readonly sessions: Set<ServerHttp2Session>;
  /** How many were opened. */
  readonly connections: number;
  readonly arrived: ArrivedStream[];
  close(): Promise<void>;
}

export interface Http2UpstreamOptions {
  readonly certificate?: TestCertificate;
  /** Streams of a connection at one time. */
  readonly streams?: number;
  /** Whether it takes WebSockets (RFC 8441). */
  readonly enableConnectProtocol?: boolean;
  /** Called with each request; by default it answers 200 with `ok`. */
  readonly answer?: (arrived: ArrivedStream) => void;
}

/** Answers 200 with `ok`. */
export function answerOk({ stream }: ArrivedStream): void {
  if (stream.destroyed) return;
  stream.respond({ ':status': 200 });
  stream.end('ok');
}

/** A server of node:http2, with TLS if it has a certificate, else for clients that know it without asking. */
export async function startHttp2Upstream({
  certificate,
  streams = 100,
  enableConnectProtocol = false,
  answer = answerOk,
}: Http2UpstreamOptions = {}): Promise<Http2Upstream> {
  const settings = { maxConcurrentStreams: streams, enableConnectProtocol };
  const server: Http2Server =
    certificate === undefined
      ? createServer({ settings })
      : createSecureServer({ settings, cert: certificate.certPem, key: certificate.keyPem });
  const sessions = new Set<ServerHttp2Session>();
  const arrived: ArrivedStream[] = [];
  let connections = 0;
  server.on('session', (session) => {
    connections += 1;
    const connection = connections;
    sessions.add(session);
    session.on('error', () => undefined);
    session.once('close', () => sessions.delete(session));
    session.on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      const one = { stream, headers, connection };
      arrived.push(one);
      answer(one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    sessions,
    get connections() {
      return connections;
    },
    arrived,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const session of sessions) session.destroy();
      }),
  };
}
