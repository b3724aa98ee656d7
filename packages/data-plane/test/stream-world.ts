import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { connect } from 'node:http2';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import type { closeAfterEach } from '@gateway/shared/test/opened';
import { listen } from '@gateway/shared/test/upstream';
import { startTestDataPath, type TestDataPathOptions } from './data-path.ts';

/* Streams in both directions through a gateway whose time the test moves. */

export const CALLERS = ['http1', 'http2'] as const;
export type CallerProtocol = (typeof CALLERS)[number];

/** One side of a stream: what it has received so far, as text, and how that ended. */
export interface StreamSide {
  readonly text: string;
  /** `open`, `ended` with the end of the message, or `cut`. */
  readonly end: 'open' | 'ended' | 'cut';
}

/** The caller of a stream. */
export interface StreamCaller extends StreamSide {
  /** 0: the response has not begun. */
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Writable & Readable;
  send(text: string): void;
  /** Ends the request. */
  finish(): void;
  stopReading(): void;
  cancel(): void;
}

/** A stream as an upstream sees it. */
export interface UpstreamStream extends StreamSide {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** @param wasReset whether a message that ended was in fact cut: node:http2 ends a stream that is reset */
function watch(readable: Readable, wasReset = () => false) {
  const side = { text: '', end: 'open' as StreamSide['end'] };
  readable.setEncoding('latin1');
  readable.on('data', (text: string) => (side.text += text));
  readable.on('end', () => (side.end = wasReset() ? 'cut' : 'ended'));
  const cut = () => {
    if (side.end === 'open') side.end = 'cut';
  };
  readable.on('close', cut).on('error', cut).on('aborted', cut);
  return side;
}

/** A server of HTTP/1.1 that gives the test each stream. With `reads` false it leaves the requests unread. */
export async function startStreamServer(reads = true) {
  const streams: UpstreamStream[] = [];
  const server = createServer({ requestTimeout: 0, headersTimeout: 0 }, (request, response) => {
    response.on('error', () => undefined);
    request.on('error', () => undefined);
    const side = reads ? watch(request) : { text: '', end: 'open' as const };
    streams.push({
      request,
      response,
      get text() {
        return side.text;
      },
      get end() {
        return side.end;
      },
    });
  });
  const { url, close } = await listen(server);
  return {
    url,
    close,
    streams,
    next: (count = 1) =>
      eventually(() => {
        const stream = streams[count - 1];
        if (stream === undefined) throw new Error(`no stream ${count}`);
        return stream;
      }),
  };
}

/** A gateway for streams, whose clock moves only with `advance`. */
export async function streamWorld(
  opened: ReturnType<typeof closeAfterEach>,
  upstreamUrl: string,
  route: Partial<SnapshotRoute> = {},
  options: TestDataPathOptions = {},
) {
  const time = manualClock(Date.now());
  const settings = { upstreams: [upstreamUrl], streaming: true, ...route };
  const environment = { HTTP2_CLEARTEXT: 'on', ...options.environment };
  const gateway = await startTestDataPath(settings, { ...options, environment, clock: time });
  opened({
    async stop() {
      let isStopped = false;
      void gateway.stop().then(() => (isStopped = true));
      await eventually(() => {
        time.advance(1000);
        if (!isStopped) throw new Error('it has not stopped');
      });
    },
  });
  const call = (
    protocol: CallerProtocol,
    headers: Readonly<Record<string, string>> = {},
  ): StreamCaller => {
    const fields = { authorization: `Bearer ${gateway.token}`, ...headers };
    const begin = protocol === 'http1' ? overHttp1 : overHttp2;
    const caller = begin(gateway.url, fields);
    opened({ close: () => caller.cancel() });
    return caller;
  };
  return { time, gateway, call };
}

type CallerParts = {
  side: ReturnType<typeof watch>;
  status: number;
  headers: object;
  response?: Readable;
};

function overHttp1(url: string, headers: Readonly<Record<string, string>>): StreamCaller {
  const parts: CallerParts = { side: { text: '', end: 'open' }, status: 0, headers: {} };
  const request = httpRequest(`${url}/v1/proxy/test`, { method: 'POST', headers });
  request.flushHeaders();
  request.on('response', (response) => {
    parts.side = watch(response);
    parts.response = response;
    parts.status = response.statusCode ?? 0;
    parts.headers = response.headers;
  });
  request.on('error', () => (parts.side.end = parts.side.end === 'open' ? 'cut' : parts.side.end));
  return callerOf(parts, request as unknown as Duplex, () => request.destroy());
}

function overHttp2(url: string, headers: Readonly<Record<string, string>>): StreamCaller {
  const parts: CallerParts = { side: { text: '', end: 'open' }, status: 0, headers: {} };
  const session = connect(url);
  session.on('error', () => undefined);
  const stream = session.request(
    { ':method': 'POST', ':path': '/v1/proxy/test', ...headers },
    { endStream: false },
  );
  parts.response = stream;
  parts.side = watch(stream, () => stream.aborted || stream.rstCode !== 0);
  stream.on('response', (fields) => {
    parts.status = Number(fields[':status']);
    parts.headers = fields;
  });
  stream.once('close', () => {
    session.close();
  });
  return callerOf(parts, stream, () => {
    stream.close(8);
    session.close();
  });
}

function callerOf(parts: CallerParts, body: Duplex, cancel: () => void): StreamCaller {
  return {
    get text() {
      return parts.side.text;
    },
    get end() {
      return parts.side.end;
    },
    get status() {
      return parts.status;
    },
    get headers() {
      return parts.headers as Readonly<Record<string, unknown>>;
    },
    body,
    send: (text) => void body.write(text, 'latin1'),
    finish: () => void body.end(),
    stopReading: () => void parts.response?.pause(),
    cancel,
  };
}
