import { MAX_FRAME_BYTES } from '@gateway/http/http2/protocol';
import type { ConformanceCase } from './case.ts';
import { pseudo, type Http2Case } from './fields-case.ts';
import { parseRequests } from './parse-requests.ts';

/** A request with a path or OPTIONS with an asterisk, without anything that a parser would have to repair. */
const START_LINE = /^(?:\S+ \/\S*|OPTIONS \*) HTTP\/1\.1\r\n/;
/** Fields that HTTP/2 does not have (RFC 9113 section 8.2.2). */
const OF_A_CONNECTION = new Set(['connection', 'keep-alive', 'proxy-connection', 'upgrade', 'te']);
const FRAMING = new Set(['host', 'transfer-encoding']);

/**
 * The same request over HTTP/2, with the same result; undefined if there is none: it is not one well-formed request of
 * HTTP/1.1, speaks of its connection, is larger than a frame, or waits for a response before its end.
 */
export function asHttp2(one: ConformanceCase): Http2Case | undefined {
  const { name, rule, send, answer, client, upstream } = one;
  const text = typeof send === 'string' ? send : send.join('');
  if (text.length > MAX_FRAME_BYTES || answer?.early === true) return undefined;
  const { requests, rest } = parseRequests(text, 'caller');
  const [request] = requests;
  if (request === undefined || requests.length > 1 || rest !== 'nothing') return undefined;
  if (!START_LINE.test(text) || request.method === 'CONNECT' || !request.named) return undefined;
  const lines = request.lines.map(([key, value]) => [key.toLowerCase(), value] as const);
  if (lines.some(([key]) => OF_A_CONNECTION.has(key))) return undefined;
  const isChunked = lines.some(([key]) => key === 'transfer-encoding');
  const authority = lines.find(([key]) => key === 'host')?.[1];
  const changes = { ':method': request.method, ':path': request.target, ':authority': authority };
  const trailers = request.trailers.map((line) => line.split(/: (.*)/) as [string, string]);
  return {
    name,
    rule,
    fields: [...pseudo(changes), ...lines.filter(([key]) => !FRAMING.has(key))],
    ...(request.body !== '' || isChunked ? { body: [request.body] } : {}),
    ...(trailers.length === 0
      ? {}
      : { trailers: trailers.map(([key, value]) => [key.toLowerCase(), value] as const) }),
    ...(answer === undefined ? {} : { answer }),
    result: { client, upstream },
  };
}
