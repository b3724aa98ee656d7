import { once } from 'node:events';
import { createServer as createPlainServer, request as plainRequest } from 'node:http';
import type { Agent, IncomingMessage, RequestListener } from 'node:http';
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import { createServer as createSecureServer } from 'node:https';
import type { Readable, Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { listen } from '@gateway/shared/test/upstream';

/** One request with a body, whose upstream answers with another body. The number determines every byte of both. */
export interface PatternedCall {
  readonly number: number;
  readonly sentBytes: number;
  readonly answeredBytes: number;
  /** Both bodies are sent in pieces of this size, without a length; 0: whole, with their length. */
  readonly pieceBytes: number;
  /** The upstream answers the first attempt with 503. */
  readonly failsFirst: boolean;
  /** Caller and upstream read with pauses. */
  readonly slow: boolean;
  readonly key: string | undefined;
}

/** Bytes that differ from those of every other number and of every other place. */
function pattern(number: number, bytes: number): Buffer {
  const words = new Uint32Array(Math.ceil(bytes / 4));
  let word = Math.imul(number + 1, 0x9e3779b1);
  for (let index = 0; index < words.length; index += 1) {
    word = Math.imul(word ^ (word >>> 15), 0x2c1b3c6d) + number + index;
    words[index] = word;
  }
  return Buffer.from(words.buffer, 0, bytes);
}

const answerNumber = (number: number) => number + 1_000_000;

async function send(to: Writable, body: Buffer, { pieceBytes, slow }: PatternedCall) {
  const step = pieceBytes === 0 ? Math.max(1, body.length) : pieceBytes;
  for (let at = 0; at < body.length; at += step) {
    if (to.destroyed) return;
    const more = to.write(body.subarray(at, at + step));
    if (!more) await Promise.race([once(to, 'drain'), once(to, 'close')]);
    if (slow) await turn();
  }
  to.end();
}

async function read(from: Readable, { slow }: PatternedCall): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of from) {
    chunks.push(chunk as Buffer);
    if (slow) for (let turns = 0; turns < 5; turns += 1) await turn();
  }
  return Buffer.concat(chunks);
}

/** The headers that tell the upstream which call it is. */
function headersOf(call: PatternedCall): Record<string, string> {
  return {
    'x-call': JSON.stringify(call),
    ...(call.key !== undefined && { 'idempotency-key': call.key }),
    ...(call.pieceBytes === 0 && { 'content-length': String(call.sentBytes) }),
  };
}

/** An upstream that answers calls; `wrong` has the numbers of those whose request body was not what was sent. */
export async function startPatternedUpstream(certificate?: { certPem: string; keyPem: string }) {
  const wrong: number[] = [];
  const failed = new Set<number>();
  const answer = async (...[request, response]: Parameters<RequestListener>) => {
    const call = JSON.parse(String(request.headers['x-call'])) as PatternedCall;
    const body = await read(request, call);
    if (!body.equals(pattern(call.number, call.sentBytes))) wrong.push(call.number);
    if (call.failsFirst && !failed.has(call.number)) {
      failed.add(call.number);
      response.writeHead(503).end('the first attempt fails');
      return;
    }
    const answered = pattern(answerNumber(call.number), call.answeredBytes);
    response.writeHead(200, call.pieceBytes === 0 ? { 'content-length': answered.length } : {});
    await send(response, answered, call);
  };
  const onRequest: RequestListener = (request, response) =>
    void answer(request, response).catch(() => request.destroy());
  const server =
    certificate === undefined
      ? createPlainServer(onRequest)
      : createSecureServer({ cert: certificate.certPem, key: certificate.keyPem }, onRequest);
  const listening = await listen(server);
  const url = certificate === undefined ? listening.url : listening.url.replace('http:', 'https:');
  return { ...listening, url, wrong };
}

export interface PatternedAnswer {
  readonly status: number;
  /** Whether every byte of the body is the one that the upstream sent. */
  readonly whole: boolean;
  readonly replayed: boolean;
}

function answerOf(
  call: PatternedCall,
  { status, headers, body }: { status: number; headers: IncomingHttpHeaders; body: Buffer },
): PatternedAnswer {
  const whole = body.equals(pattern(answerNumber(call.number), call.answeredBytes));
  return { status, whole, replayed: headers['idempotent-replayed'] === 'true' };
}

/** Makes the call over HTTP/1.1. */
export async function callHttp1(
  url: string,
  token: string,
  agent: Agent,
  call: PatternedCall,
): Promise<PatternedAnswer> {
  const headers = { ...headersOf(call), authorization: `Bearer ${token}` };
  const request = plainRequest(`${url}/v1/proxy/test`, { method: 'PUT', headers, agent });
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  const [[response]] = await Promise.all([
    answered,
    send(request, pattern(call.number, call.sentBytes), call),
  ]);
  const body = await read(response, call);
  return answerOf(call, { status: response.statusCode ?? 0, headers: response.headers, body });
}

/** Makes the call over HTTP/2. */
export async function callHttp2(
  session: ClientHttp2Session,
  token: string,
  call: PatternedCall,
): Promise<PatternedAnswer> {
  const stream = session.request({
    ...headersOf(call),
    ':method': 'PUT',
    ':path': '/v1/proxy/test',
    authorization: `Bearer ${token}`,
  });
  const answered = once(stream, 'response') as Promise<[IncomingHttpHeaders]>;
  // Read at once: Node's client drops a short body that nothing reads by the time the stream has closed.
  const [[headers], body] = await Promise.all([
    answered,
    read(stream, call),
    send(stream, pattern(call.number, call.sentBytes), call),
  ]);
  return answerOf(call, { status: Number(headers[':status']), headers, body });
}
