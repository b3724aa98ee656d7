import {
  connect,
  constants,
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { startTestDataPath, type TestDataPath, type TestDataPathOptions } from './data-path.ts';

/** What a gRPC client reads of a response. */
export interface GrpcAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  /** Whether the first block of fields ended the stream (`Trailers-Only`). */
  readonly isTrailersOnly: boolean;
  readonly bytes: number;
  /** The error code of the stream; 0 if it ended without an error. */
  readonly code: number;
}

export interface GrpcDataPath extends TestDataPath {
  readonly session: ClientHttp2Session;
  /** Calls a method of the route `test`, with the token unless `authorization` is given. */
  grpc(fields?: OutgoingHttpHeaders, body?: string | null): Promise<GrpcAnswer>;
}

/** An empty message. */
export const EMPTY_MESSAGE = '\0\0\0\0\0';

/** A data path with a connection of HTTP/2 without TLS, for gRPC calls. */
export async function startGrpcDataPath(
  route: Parameters<typeof startTestDataPath>[0],
  options: TestDataPathOptions = {},
): Promise<GrpcDataPath> {
  const environment = { HTTP2_CLEARTEXT: 'on', ...options.environment };
  const gateway = await startTestDataPath(route, { ...options, environment });
  const session = connect(gateway.url);
  session.on('error', () => undefined);
  return {
    ...gateway,
    session,
    grpc: (fields, body) =>
      grpcCall(session, { authorization: `Bearer ${gateway.token}`, ...fields }, body),
    async stop() {
      session.destroy();
      await gateway.stop();
    },
  };
}

/** Sends a call; null: its body does not end. Resolves when its stream has ended. */
export function grpcCall(
  session: ClientHttp2Session,
  fields: OutgoingHttpHeaders,
  body: string | null = EMPTY_MESSAGE,
): Promise<GrpcAnswer> {
  const stream = session.request({
    ':method': 'POST',
    ':path': '/v1/proxy/test/pkg.Service/Method',
    'content-type': 'application/grpc+proto',
    te: 'trailers',
    ...fields,
  });
  return new Promise((resolve) => {
    let headers: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    let isTrailersOnly = false;
    let bytes = 0;
    stream.on('response', (received, flags) => {
      headers = received;
      isTrailersOnly = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    });
    stream.on('trailers', (received) => void (trailers = received));
    stream.on('data', (chunk: Buffer) => void (bytes += chunk.length));
    stream.on('error', () => undefined);
    stream.once('close', () => {
      const status = Number(headers[':status'] ?? 0);
      resolve({ status, headers, trailers, isTrailersOnly, bytes, code: stream.rstCode });
    });
    if (body === null) stream.write(EMPTY_MESSAGE);
    else stream.end(body);
  });
}
