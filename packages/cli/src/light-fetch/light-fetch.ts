import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { LightHeaders } from './light-headers.ts';
import { LightResponse, type LightRequest } from './light-request.ts';

/** More than the largest export. */
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * Sends a request with `node:http`, which starts in a third of the CPU time of the fetch of Node. Connections are kept for
 * the next call. It follows no redirect, because the API has none, and takes no compressed response.
 * @param init a signal in place of that of the request
 * @throws the reason of the signal if it aborts, else the error of the connection
 */
export async function lightFetch(
  { url, method, headers, text, signal: own }: LightRequest,
  init: { readonly signal?: AbortSignal } = {},
): Promise<LightResponse> {
  const signal = init.signal ?? own;
  signal?.throwIfAborted();
  // An import would read each export, one of which is the WebSocket of the library that this avoids. TLS takes as long to
  // load as the rest, and only https needs it.
  const { request } = url.startsWith('https:')
    ? process.getBuiltinModule('node:https')
    : process.getBuiltinModule('node:http');
  const sent = new LightHeaders([['accept', '*/*'], ...headers]);
  if (text !== undefined) sent.set('content-length', String(Buffer.byteLength(text)));
  const options: RequestOptions = { method, headers: Object.fromEntries(sent) };
  try {
    const response = await responseTo(request(url, options), text, signal);
    return new LightResponse(url, response.status, response.headers, response.text);
  } catch (error) {
    signal?.throwIfAborted();
    throw firstOf(error);
  }
}

interface Received {
  readonly status: number;
  readonly headers: LightHeaders;
  readonly text: string;
}

function responseTo(
  sending: ClientRequest,
  body: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Received> {
  const abort = () => void sending.destroy();
  signal?.addEventListener('abort', abort, { once: true });
  return new Promise<Received>((resolve, reject) => {
    sending.once('error', reject);
    sending.once('response', (response) => {
      const { statusCode: status = 0 } = response;
      readAll(response).then((text) => {
        resolve({ status, headers: headersOf(response), text });
      }, reject);
    });
    sending.end(body);
  }).finally(() => signal?.removeEventListener('abort', abort));
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    const buffer = chunk as Buffer;
    bytes += buffer.length;
    if (bytes > MAX_BYTES) throw new Error('the response has more than 256 MiB');
    chunks.push(buffer);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function headersOf({ rawHeaders }: IncomingMessage): LightHeaders {
  const headers = new LightHeaders();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  }
  return headers;
}

/** A name with several addresses fails with an error for each; the first says as much. */
function firstOf(error: unknown): unknown {
  return error instanceof AggregateError ? (error.errors[0] ?? error) : error;
}
