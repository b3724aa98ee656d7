/** A response as it was received. */
export interface RawResponse {
  readonly status: number;
  readonly statusText: string;
  /** Name, value, name, value, as received; one character for each byte. */
  readonly rawHeaders: readonly string[];
  readonly headers: Headers;
  readonly body: Buffer;
  /** The lines after the last chunk, as received. */
  readonly trailers: readonly string[];
  /** Whether the body is complete according to the framing. */
  readonly complete: boolean;
  text(): Promise<string>;
}

/** The first response in the bytes and its length; undefined if it is incomplete. */
export function readResponse(
  bytes: Buffer,
  method: string,
  ended: boolean,
): { readonly response: RawResponse; readonly used: number } | undefined {
  const endOfHead = bytes.indexOf('\r\n\r\n');
  if (endOfHead === -1) return undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, endOfHead).split('\r\n');
  const [, status = '', statusText = ''] = /^HTTP\/1\.1 (\d{3}) (.*)$/.exec(statusLine) ?? [];
  const rawHeaders = lines.flatMap((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  }
  const rest = bytes.subarray(endOfHead + 4);
  const found = readBody(rest, headers, bodyless(Number(status), method), ended);
  if (found === undefined) return undefined;
  const { body, used, complete, trailers = [] } = found;
  const text = () => Promise.resolve(body.toString('utf8'));
  const response = {
    status: Number(status),
    statusText,
    rawHeaders,
    headers,
    body,
    trailers,
    complete,
    text,
  };
  return { response, used: endOfHead + 4 + used };
}

function bodyless(status: number, method: string): boolean {
  return method === 'HEAD' || status < 200 || status === 204 || status === 304;
}

interface ReadBody {
  readonly body: Buffer;
  readonly used: number;
  readonly complete: boolean;
  readonly trailers?: readonly string[];
}

function readBody(
  rest: Buffer,
  headers: Headers,
  none: boolean,
  ended: boolean,
): ReadBody | undefined {
  if (none) return { body: Buffer.alloc(0), used: 0, complete: true };
  if (headers.get('transfer-encoding') === 'chunked') return readChunked(rest, ended);
  const length = headers.get('content-length');
  if (length === null) {
    return ended ? { body: rest, used: rest.length, complete: true } : undefined;
  }
  const bytes = Number(length);
  if (rest.length < bytes && !ended) return undefined;
  const body = rest.subarray(0, bytes);
  return { body, used: body.length, complete: body.length === bytes };
}

function readChunked(rest: Buffer, ended: boolean): ReadBody | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const endOfLine = rest.indexOf('\r\n', at);
    const size = Number.parseInt(rest.toString('latin1', at, endOfLine), 16);
    // Of the last chunk: the empty line that ends the trailers, of which there may be none.
    const next = size === 0 ? rest.indexOf('\r\n\r\n', endOfLine) + 4 : endOfLine + 2 + size + 2;
    if (endOfLine === -1 || next === 3 || rest.length < next) {
      return ended ? { body: Buffer.concat(chunks), used: at, complete: false } : undefined;
    }
    if (size === 0) {
      const trailers = rest.toString('latin1', endOfLine, next).split('\r\n').slice(1, -2);
      return { body: Buffer.concat(chunks), used: next, complete: true, trailers };
    }
    chunks.push(rest.subarray(endOfLine + 2, endOfLine + 2 + size));
    at = next;
  }
}
