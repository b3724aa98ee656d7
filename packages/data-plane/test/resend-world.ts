import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Writable } from 'node:stream';
import type { SnapshotRoute, SnapshotService } from '@gateway/shared/snapshot/schema';
import { expect } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import type { closeAfterEach } from '@gateway/shared/test/opened';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startTestDataPath, type TestDataPath } from './data-path.ts';
import { startHttp2Upstream } from './http2-upstream.ts';
import type { CallerProtocol } from './stream-world.ts';

type Opened = ReturnType<typeof closeAfterEach>;

/* Requests whose bodies arrive in parts, to an upstream of HTTP/2 whose attempts the test ends. */

/** A request as the upstream got it. */
export interface Attempted {
  readonly stream: ServerHttp2Stream;
  readonly connection: number;
  readonly bytes: number;
  readonly text: string;
  readonly trailers: IncomingHttpHeaders | undefined;
  readonly isWhole: boolean;
  /** 200 with `ok`. */
  answer(): void;
  /** GOAWAY that names the stream before this one as the last. */
  goAway(): void;
  /** RST_STREAM with REFUSED_STREAM. */
  refuse(): void;
}

export interface PartsCaller {
  readonly status: number;
  readonly body: Writable;
  send(text: string): void;
  finish(trailers?: Readonly<Record<string, string>>): void;
  cancel(): void;
}

/** An upstream of HTTP/2 that answers nothing itself. */
export async function startAttempted(reads = true) {
  const attempts: Attempted[] = [];
  const upstream = await startHttp2Upstream({
    answer({ stream, connection }) {
      attempts.push(attemptedOf(stream, connection, reads));
    },
  });
  return {
    url: upstream.url,
    attempts,
    close: () => upstream.close(),
    next: (count = 1) =>
      eventually(() => {
        const attempt = attempts[count - 1];
        if (attempt === undefined) throw new Error(`no attempt ${count}`);
        return attempt;
      }),
  };
}

function attemptedOf(stream: ServerHttp2Stream, connection: number, reads: boolean): Attempted {
  let text = '';
  let isWhole = false;
  let trailers: IncomingHttpHeaders | undefined;
  stream.setEncoding('latin1');
  if (reads) stream.on('data', (part: string) => (text += part));
  stream.on('end', () => (isWhole = !stream.aborted));
  stream.on('trailers', (fields: IncomingHttpHeaders) => (trailers = fields));
  return {
    stream,
    connection,
    get bytes() {
      return text.length;
    },
    get text() {
      return text;
    },
    get trailers() {
      return trailers;
    },
    get isWhole() {
      return isWhole;
    },
    answer() {
      if (stream.destroyed) return;
      stream.respond({ ':status': 200 });
      stream.end('ok');
    },
    goAway: () => stream.session?.goaway(constants.NGHTTP2_NO_ERROR, (stream.id ?? 3) - 2),
    refuse: () => stream.close(constants.NGHTTP2_REFUSED_STREAM),
  };
}

/** A gateway to these upstreams, for callers of both versions. */
export async function resendWorld(
  opened: Opened,
  urls: readonly string[],
  route: Partial<SnapshotRoute> = {},
  environment: Readonly<Record<string, string>> = {},
  protocol: SnapshotService['protocol'] = 'http2',
) {
  const settings = { upstreams: urls, retry_count: 0, ...route };
  const gateway = opened(
    await startTestDataPath(settings, { environment: { HTTP2_CLEARTEXT: 'on', ...environment } }),
  );
  const snapshot = testSnapshot(settings, gateway.token);
  const services = snapshot.services.map((one) => ({ ...one, protocol }));
  await gateway.use({ ...snapshot, services, version: 2 });
  const call = (caller: CallerProtocol, fields: Readonly<Record<string, string>> = {}) => {
    const begin = caller === 'http1' ? overHttp1 : overHttp2;
    const begun = begin(gateway, fields);
    opened({ close: () => begun.cancel() });
    return begun;
  };
  return { gateway, call };
}

/** The status of a call, once it has one. */
export function statusOf(caller: PartsCaller): Promise<number> {
  return eventually(() => {
    if (caller.status === 0) throw new Error('no response');
    return caller.status;
  });
}

const PART = 'x'.repeat(256 * 1024);
/** More than all sockets and buffers on the way hold. */
const PARTS = 64;

/**
 * How many looks in a row must find the same, half a second or more. A full socket may drop what arrives, and TCP sends it
 * again after 200 ms and 400 ms (RFC 6298, with the least time of Linux): more is taken then.
 */
const LOOKS = 25;

/** Writes until no more is taken for a while. Returns how much waits. */
export async function fill(writable: Writable): Promise<number> {
  for (let part = 0; part < PARTS; part += 1) writable.write(PART);
  let last = -1;
  let same = 0;
  await eventually(() => {
    same = writable.writableLength === last ? same + 1 : 0;
    last = writable.writableLength;
    if (same < LOOKS) throw new Error('it is still taken');
  });
  return last;
}

type Begun = Pick<TestDataPath, 'url' | 'token'>;

function overHttp1({ url, token }: Begun, headers: Readonly<Record<string, string>>): PartsCaller {
  let status = 0;
  const request = httpRequest(`${url}/v1/proxy/test`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  request.flushHeaders();
  request.on('error', () => undefined);
  request.on('response', (response: IncomingMessage) => {
    status = response.statusCode ?? 0;
    response.resume();
  });
  return {
    get status() {
      return status;
    },
    body: request,
    send: (text) => void request.write(text, 'latin1'),
    finish(trailers) {
      if (trailers !== undefined) request.addTrailers(trailers);
      request.end();
    },
    cancel: () => request.destroy(),
  };
}

function overHttp2({ url, token }: Begun, headers: Readonly<Record<string, string>>): PartsCaller {
  let status = 0;
  let last: Readonly<Record<string, string>> = {};
  const session = connect(url);
  session.on('error', () => undefined);
  const fields = { ':method': 'POST', ':path': '/v1/proxy/test', authorization: `Bearer ${token}` };
  const stream = session.request(
    { ...fields, ...headers },
    { endStream: false, waitForTrailers: true },
  );
  stream.on('error', () => undefined);
  stream.on('wantTrailers', () => stream.sendTrailers(last));
  stream.on('response', (received) => (status = Number(received[':status'])));
  stream.resume();
  stream.once('close', () => session.close());
  return {
    get status() {
      return status;
    },
    body: stream,
    send: (text) => void stream.write(text, 'latin1'),
    finish(trailers = {}) {
      last = trailers;
      stream.end();
    },
    cancel() {
      session.destroy();
    },
  };
}

/** A gateway with a connection to its upstream, whose first stream was answered, without retries. */
export async function warmResendWorld(
  opened: Opened,
  route: Partial<SnapshotRoute> = {},
  environment: Record<string, string> = {},
) {
  const upstream = opened(await startAttempted());
  const { gateway, call } = await resendWorld(opened, [upstream.url], route, environment);
  const first = call('http1');
  first.finish();
  (await upstream.next()).answer();
  await statusOf(first);
  await eventually(() => expect(gateway.records).toHaveLength(1));
  /** The record of the call after the first one. */
  const record = () =>
    eventually(() => {
      const found = gateway.records[1];
      if (found === undefined) throw new Error('no record');
      return found;
    });
  return { upstream, gateway, call, record };
}

/** Resolves when so much of the body has arrived. */
export const arrived = (attempt: Attempted, text: string) =>
  eventually(() => expect([attempt.bytes, attempt.text === text]).toEqual([text.length, true]));
