import { request as httpRequest, type Agent } from 'node:http';

export type Fields = Readonly<Record<string, string>>;

/** One request, apart from its caller and its route. */
export interface Shape {
  readonly method?: string;
  readonly subPath?: string;
  readonly fields?: Fields;
  readonly body?: string;
}

/** What a caller may try on a route: each could be answered by a rule of the route. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  'a request': {},
  'a method that the routes do not accept': { method: 'DELETE' },
  'a method that no route lists': { method: 'FROB' },
  'an encoded control character': { subPath: '/a%0Ab' },
  'OPTIONS with Max-Forwards 0': { method: 'OPTIONS', fields: { 'max-forwards': '0' } },
  'an idempotency key and a version': {
    fields: { 'idempotency-key': 'order-17', 'x-gateway-version': 'v2' },
  },
  'a page of another origin': { fields: { origin: 'https://evil.test' } },
  'a preflight of another origin': {
    method: 'OPTIONS',
    fields: { origin: 'https://evil.test', 'access-control-request-method': 'DELETE' },
  },
  'a body that is too large for the routes': {
    method: 'POST',
    fields: { 'content-length': '100' },
    body: 'x'.repeat(100),
  },
  'a gRPC call': { fields: { 'content-type': 'application/grpc', te: 'trailers' } },
  'a WebSocket': {
    fields: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
  },
};

/** What differs in every response: the id, the time that it took, and the counter of failures. */
const VARYING = /^(?:x-request-id|x-gateway-latency|x-ratelimit-remaining|date)$/;

/** The answer without that. */
export function withoutVarying(status: number, raw: readonly string[], body: string): string {
  const lines = [String(status)];
  for (let at = 0; at < raw.length; at += 2) {
    const [name = '', value = ''] = raw.slice(at, at + 2);
    lines.push(`${name}: ${VARYING.test(name.toLowerCase()) ? '' : value}`);
  }
  return [...lines, '', body.replace(/req_[0-9a-z]{26}/, 'req_')].join('\n');
}

/** Sends a request and returns the whole answer, in its bytes, without what varies. */
export function answerTo(port: number, agent: Agent, path: string, shape: Shape, fields: Fields) {
  return new Promise<string>((resolve, reject) => {
    const headers = { ...shape.fields, ...fields };
    const method = shape.method ?? 'GET';
    const sent = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent });
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => void chunks.push(chunk));
      response.on('end', () => {
        const { statusCode = 0, rawHeaders } = response;
        resolve(withoutVarying(statusCode, rawHeaders, Buffer.concat(chunks).toString('latin1')));
      });
    });
    sent.on('error', reject);
    sent.end(shape.body);
  });
}
