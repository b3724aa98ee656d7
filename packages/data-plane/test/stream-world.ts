import { createServer, request as httpRequest, type ServerResponse } from 'node:http';
import {
  connect,
  constants,
  createServer as createHttp2Server,
  type ServerHttp2Session,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Duplex, Readable, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock, type ManualClock } from '@gateway/shared/test/manual-clock';
import type { closeAfterEach } from '@gateway/shared/test/opened';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { listen } from '@gateway/shared/test/upstream';
import { startTestDataPath, type TestDataPathOptions } from './data-path.ts';

/* Streams in both directions through a gateway whose time the test moves. */

export const CALLERS = ['http1', 'http2'] as const;
export type CallerProtocol = (typeof CALLERS)[number];
export type UpstreamProtocol = 'http1' | 'http2';
/** Each version of HTTP of the caller with each of the upstream. */
export const PAIRS = CALLERS.flatMap(
  (caller) => [[caller, 'http1'] as const, [caller, 'http2'] as const] as const,
);

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
  /** undefined: none came. */
  readonly trailers: Readonly<Record<string, unknown>> | undefined;
  readonly body: Writable & Readable;
  send(text: string): void;
  /** Ends the request. */
  finish(): void;
  stopReading(): void;
  readOn(): void;
  cancel(): void;
}

/** A stream as an upstream sees it. */
export interface UpstreamStream extends StreamSide {
  readonly response: Pick<
    ServerResponse,
    'write' | 'end' | 'setHeader' | 'flushHeaders' | 'writableLength' | 'writableFinished'
  >;
  /** Whether nothing can be sent any more. */
  readonly isGone: boolean;
  /** @param code of HTTP/2 */
  reset(code?: number): void;
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

/** A server that gives the test each stream. With `reads` false it leaves the requests unread. */
export async function startStreamServer(protocol: UpstreamProtocol, reads = true) {
  const streams: UpstreamStream[] = [];
  const begin: BeginStream = (request, response, reset, wasReset) => {
    let isGone = false;
    response.on('error', () => undefined).on('close', () => (isGone = true));
    request.on('error', () => undefined).on('aborted', () => (isGone = true));
    const side = reads ? watch(request, wasReset) : { text: '', end: 'open' as const };
    streams.push({
      response,
      get text() {
        return side.text;
      },
      get end() {
        return side.end;
      },
      get isGone() {
        return isGone;
      },
      reset,
    });
  };
  const { url, close } = await (protocol === 'http1' ? serveHttp1(begin) : serveHttp2(begin));
  return {
    protocol,
    url,
    close,
    next: (count = 1) =>
      eventually(() => {
        const stream = streams[count - 1];
        if (stream === undefined) throw new Error(`no stream ${count}`);
        return stream;
      }),
  };
}

type BeginStream = (
  request: Readable,
  response: ServerResponse,
  reset: (code?: number) => void,
  wasReset?: () => boolean,
) => void;

function serveHttp1(begin: BeginStream) {
  const server = createServer({ requestTimeout: 0, headersTimeout: 0 }, (request, response) => {
    begin(request, response, () => void request.socket.resetAndDestroy());
  });
  return listen(server);
}

async function serveHttp2(begin: BeginStream) {
  const server = createHttp2Server((request, response) => {
    const reset = (code = constants.NGHTTP2_INTERNAL_ERROR) => {
      response.stream.close(code);
    };
    const { stream } = response;
    const wasReset = () => stream.aborted || stream.rstCode !== 0;
    begin(request, response as unknown as ServerResponse, reset, wasReset);
  });
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => sessions.add(session));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const session of sessions) session.destroy();
      }),
  };
}

const STEP_MS = 1000;
/** Enough for a ping and its answer. */
const TURNS = 8;

/** Lets time pass in steps, between which both ends of a connection read: a ping that nobody answers ends it. */
async function pass(time: ManualClock, ms: number): Promise<void> {
  for (let leftMs = ms; leftMs > 0; leftMs -= STEP_MS) {
    time.advance(Math.min(leftMs, STEP_MS));
    for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
  }
}

/** A gateway for streams, whose clock moves only as the test says. */
export async function streamWorld(
  opened: ReturnType<typeof closeAfterEach>,
  server: { readonly url: string; readonly protocol: UpstreamProtocol },
  route: Partial<SnapshotRoute> = {},
  options: TestDataPathOptions = {},
) {
  const time = manualClock(Date.now());
  const settings = { upstreams: [server.url], streaming: true, ...route };
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
  const snapshot = testSnapshot(settings, gateway.token);
  const { protocol: ofServer } = server;
  const services = snapshot.services.map((service) => ({ ...service, protocol: ofServer }));
  await gateway.use({ ...snapshot, services, version: 2 });
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
  return { time, pass: (ms: number) => pass(time, ms), gateway, call };
}

type CallerParts = {
  side: ReturnType<typeof watch>;
  status: number;
  headers: object;
  trailers?: object;
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
  stream.on('trailers', (fields) => (parts.trailers = fields));
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
    get trailers() {
      return parts.trailers as Readonly<Record<string, unknown>> | undefined;
    },
    body,
    send: (text) => void body.write(text, 'latin1'),
    finish: () => void body.end(),
    stopReading: () => void parts.response?.pause(),
    readOn: () => void parts.response?.resume(),
    cancel,
  };
}
