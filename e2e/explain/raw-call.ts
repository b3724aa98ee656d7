import { once } from 'node:events';
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface RawCall {
  readonly method: string;
  /** Sent as it is, dot segments included. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** One request as it is, on a connection of its own. */
export async function rawCall(baseUrl: string, call: RawCall): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl);
  const sent = request({
    hostname,
    port,
    method: call.method,
    path: call.target,
    headers: {
      ...call.headers,
      ...(call.body === null ? {} : { 'content-length': String(Buffer.byteLength(call.body)) }),
    },
    agent: false,
  });
  sent.end(call.body ?? undefined);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: await text(response),
  };
}
