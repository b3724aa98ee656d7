import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';

export interface Http2Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The error code of the stream; 0 if it ended without an error. */
  readonly code: number;
  /** Whether the body ended regularly. */
  readonly complete: boolean;
}

/** Sends a request on an HTTP/2 connection. Resolves when its stream has ended. */
export function http2Call(
  session: ClientHttp2Session,
  fields: Readonly<Record<string, string | string[]>>,
  body?: string,
): Promise<Http2Answer> {
  const stream = session.request({ ':path': '/v1/proxy/test', ...fields }, endsWith(body));
  if (body !== undefined) stream.end(body);
  return http2Answer(stream);
}

function endsWith(body: string | undefined) {
  return { endStream: body === undefined };
}

/** Resolves with the result of a stream when it has ended. */
export function http2Answer(stream: ClientHttp2Stream): Promise<Http2Answer> {
  return new Promise((resolve) => {
    let headers: IncomingHttpHeaders = {};
    let complete = false;
    const chunks: Buffer[] = [];
    stream.on('response', (received) => void (headers = received));
    stream.on('data', (chunk: Buffer) => void chunks.push(chunk));
    stream.on('end', () => void (complete = !stream.aborted));
    stream.on('error', () => undefined);
    stream.once('close', () => {
      const body = Buffer.concat(chunks).toString('latin1');
      const status = Number(headers[':status'] ?? 0);
      resolve({ status, headers, body, code: stream.rstCode, complete });
    });
  });
}
