import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

const maxEchoedBytes = 1024 * 1024;
const maxDelayMs = 60_000;
const maxAnswerBytes = 64 * 1024 * 1024;
const chunk = Buffer.alloc(64 * 1024, 'x');

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(body)}\n`);
}

/** The body, parsed if it is JSON, otherwise as text; undefined if it is too long. */
async function readBody(request: IncomingMessage): Promise<{ body: unknown } | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    // Read to the end even if it is too long; otherwise the connection would be reset before the response is sent.
    if (length <= maxEchoedBytes) chunks.push(part);
  }
  if (length > maxEchoedBytes) return undefined;
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    return { body: text === '' ? null : (JSON.parse(text) as unknown) };
  } catch {
    // Not JSON: echoed as text.
    return { body: text };
  }
}

/** Echoes the names of headers only; a value may be a secret. */
async function echo(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
  const read = await readBody(request);
  if (read === undefined) {
    json(response, 413, { message: `at most ${maxEchoedBytes} bytes are echoed` });
    return;
  }
  json(response, 200, {
    method: request.method,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: Object.keys(request.headers).sort(),
    body: read.body,
  });
}

/** Writes as fast as the client reads. */
async function writeBytes(response: ServerResponse, length: number): Promise<void> {
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': length,
  });
  for (let left = length; left > 0 && !response.destroyed; left -= chunk.length) {
    const part = left < chunk.length ? chunk.subarray(0, left) : chunk;
    if (!response.write(part)) {
      await new Promise<void>((resolve) => {
        response.once('drain', resolve);
        response.once('close', resolve);
      });
    }
  }
  response.end();
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://demo-upstream');
  const [, kind, text = ''] = url.pathname.split('/');
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (kind === 'healthz') json(response, 200, { status: 'ok' });
  else if (kind === 'redirect') {
    response.writeHead(302, { location: url.searchParams.get('to') ?? '/' }).end();
  } else if (kind === 'status' && number >= 200 && number <= 599) {
    // These statuses have no body (RFC 9110 sections 15.3.5 and 15.4.5).
    if (number === 204 || number === 304) response.writeHead(number).end();
    else json(response, number, { status: number });
  } else if (kind === 'delay' && number <= maxDelayMs) {
    await delay(number);
    await echo(request, response, url);
  } else if (kind === 'bytes' && number <= maxAnswerBytes) await writeBytes(response, number);
  else if (kind === '' || kind === undefined || Number.isNaN(number))
    await echo(request, response, url);
  else json(response, 400, { message: 'the number in the path is too large' });
}

/**
 * An upstream to try the gateway's policies with: `/` and any other path echo the request as JSON, `/status/<code>` answers
 * with that status, `/delay/<ms>` echoes after a delay (at most a minute), `/bytes/<n>` sends n bytes (at most
 * 64 MiB), `/redirect?to=<address>` answers 302 with that Location, `/healthz` answers 200.
 */
export function createDemoUpstream(): Server {
  return createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      // The client has left.
      process.stderr.write(`${request.method ?? '?'}: ${String(error)}\n`);
      response.destroy();
    });
  });
}
