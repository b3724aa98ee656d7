import {
  createServer,
  type Http2Session,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { parseResponse } from './parse-response.ts';
import type { RecordedRequest, RecordingUpstream, ScriptedAnswer } from './recording-upstream.ts';

const CASE_PATH = '/base/case';
/** HTTP/2 has other framing (RFC 9113 section 8.2.2). */
const OF_HTTP1 = new Set(['transfer-encoding', 'connection']);

/** As `startRecordingUpstream`, over HTTP/2 without TLS: an answer is sent as the same response of HTTP/2. */
export async function startRecordingHttp2Upstream(): Promise<RecordingUpstream> {
  const requests: RecordedRequest[] = [];
  const received: string[] = [];
  const sessions = new Set<Http2Session>();
  const server = createServer({ maxHeaderListPairs: 10_000 });
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined);
    session.once('close', () => sessions.delete(session));
  });
  server.on('stream', (stream: ServerHttp2Stream, headers, _flags, ...rest: unknown[]) => {
    const [rawHeaders] = rest as [string[]];
    let body = '';
    let trailers: string[] = [];
    stream.on('error', () => undefined);
    stream.on('data', (bytes: Buffer) => (body += bytes.toString('latin1')));
    stream.on('trailers', (_fields, _flag, ...raw: unknown[]) => {
      const [rawTrailers] = raw as [string[]];
      trailers = pairs(rawTrailers).map(([name, value]) => `${name}: ${value}`);
    });
    stream.on('end', () => {
      const { ':method': method = '', ':path': target = '' } = headers;
      const lines = pairs(rawHeaders).filter(([name]) => !name.startsWith(':'));
      received.push([...rawHeaders, body, ...trailers].join('\n'));
      requests.push({ connection: 1, method, target, lines, named: true, body, trailers });
      answer(stream, target);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const upstream: RecordingUpstream = {
    url: `http://127.0.0.1:${port}/base`,
    requests,
    received,
    malformed: [],
    script: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const session of sessions) session.destroy();
      }),
  };

  function answer(stream: ServerHttp2Stream, target: string): void {
    const { script } = upstream;
    if (target.startsWith(CASE_PATH) && script !== undefined) respondAs(stream, script);
    else {
      stream.respond({ ':status': 200 });
      stream.end(/[^/?]*(?=\?|$)/.exec(target)?.[0] ?? '');
    }
  }
  return upstream;
}

function respondAs(stream: ServerHttp2Stream, { bytes }: ScriptedAnswer): void {
  const parsed = parseResponse(bytes);
  // To HEAD there is no body.
  const { status, body, trailers } =
    parsed.kind === 'response' ? parsed : { status: 200, body: '', trailers: [] };
  const lines = bytes.split('\r\n\r\n', 1)[0]?.split('\r\n').slice(1) ?? [];
  const fields = lines.map((line) => line.split(/: (.*)/) as [string, string]);
  const sent = fields.filter(([name]) => !OF_HTTP1.has(name.toLowerCase()));
  stream.respond({ ':status': status, ...toHeaders(sent) }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(toHeaders(trailers)));
  stream.end(body);
}

function toHeaders(fields: readonly (readonly [string, string])[]): OutgoingHttpHeaders {
  const headers: Record<string, string[]> = {};
  for (const [name, value] of fields) (headers[name.toLowerCase()] ??= []).push(value);
  return Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [name, values.length > 1 ? values : values[0]]),
  );
}

function pairs(flat: readonly string[]): (readonly [string, string])[] {
  return flat.flatMap((name, index) =>
    index % 2 === 0 ? [[name, flat[index + 1] ?? ''] as const] : [],
  );
}
