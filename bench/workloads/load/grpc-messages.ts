import { once } from 'node:events';
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { GRPC, message, MESSAGE_BYTES, PREFIX_BYTES } from '../../lab/grpc-message.ts';
import { outcomeOf, type LoadOutcome } from '../../measure/round.ts';
import type { Peer } from '../../peers/peer.ts';

/** `server`: the upstream sends all messages. `both`: it sends each one back, the next one when the one before is back. */
export type Direction = 'server' | 'both';

export interface MessageLoad {
  readonly direction: Direction;
  /** Over all streams together. */
  readonly messages: number;
  readonly connections: number;
  /** Of each connection. */
  readonly streams: number;
  readonly signal: AbortSignal;
}

const WINDOW_BYTES = 1024 * 1024;
const FRAME_BYTES = PREFIX_BYTES + MESSAGE_BYTES;

/** Calls of gRPC that stream messages, each connection with its own streams. A call without `grpc-status: 0` has failed. */
export async function grpcMessages(peer: Peer, load: MessageLoad): Promise<LoadOutcome> {
  const { connections, streams, signal } = load;
  const each = Math.max(1, Math.round(load.messages / (connections * streams)));
  const call = load.direction === 'server' ? receive : exchange;
  const sessions = Array.from({ length: connections }, () => open(peer));
  const close = () => {
    for (const session of sessions) session.destroy();
  };
  signal.addEventListener('abort', close);
  try {
    await Promise.all(sessions.map((session) => once(session, 'connect', { signal })));
    const startMs = performance.now();
    const calls = sessions.flatMap((session) =>
      Array.from({ length: streams }, () => call(startCall(session, peer), each)),
    );
    const done = await Promise.all(calls);
    const failed = done.reduce((sum, one) => sum + one.failed, 0);
    const outcome = outcomeOf(
      done.flatMap(({ timesUs }) => timesUs),
      failed,
      performance.now() - startMs,
    );
    return { ...outcome, units: each * connections * streams };
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', close);
    close();
  }
}

/** The grpc-status of a call with one message, which comes back; undefined if there is none. */
export async function grpcStatusOf(peer: Peer): Promise<string | undefined> {
  const session = open(peer);
  try {
    const stream = startCall(session, peer);
    stream.end(message(Buffer.alloc(MESSAGE_BYTES)));
    const status = statusOf(stream);
    stream.resume();
    return await status;
  } finally {
    session.destroy();
  }
}

interface Done {
  readonly failed: number;
  readonly timesUs: readonly number[];
}

function open({ url }: Peer): ClientHttp2Session {
  const session = connect(url, {
    // The certificate is one of this run.
    rejectUnauthorized: false,
    settings: { initialWindowSize: WINDOW_BYTES },
  });
  session.once('connect', () => session.setLocalWindowSize(WINDOW_BYTES));
  // Its calls report it.
  return session.on('error', () => undefined);
}

function startCall(session: ClientHttp2Session, { url, authorization }: Peer): ClientHttp2Stream {
  return session.request({
    ':method': 'POST',
    ':path': new URL(url).pathname,
    'content-type': GRPC,
    te: 'trailers',
    authorization,
  });
}

/** Rejects if the stream fails. */
async function statusOf(stream: ClientHttp2Stream): Promise<string | undefined> {
  let status: string | undefined;
  stream.on('response', (headers) => (status = text(headers['grpc-status'])));
  stream.on('trailers', (trailers) => (status = text(trailers['grpc-status'])));
  await once(stream, 'close');
  return status;
}

const text = (value: string | string[] | undefined): string | undefined => value?.toString();

/** Asks for so many messages in one call; its time is that of the whole call. */
async function receive(stream: ClientHttp2Stream, count: number): Promise<Done> {
  const startMs = performance.now();
  let bytes = 0;
  stream.on('data', (part: Buffer) => (bytes += part.length));
  const order = Buffer.alloc(4);
  order.writeUInt32BE(count);
  stream.end(message(order));
  const status = await statusOf(stream);
  const isWhole = status === '0' && bytes === count * FRAME_BYTES;
  return { failed: isWhole ? 0 : count, timesUs: [(performance.now() - startMs) * 1000] };
}

/** Sends so many messages in one call. */
async function exchange(stream: ClientHttp2Stream, count: number): Promise<Done> {
  const timesUs: number[] = [];
  const bytes = message(Buffer.alloc(MESSAGE_BYTES, 'm'));
  let waiting = 0;
  let sentMs = 0;
  const send = () => {
    waiting = FRAME_BYTES;
    sentMs = performance.now();
    stream.write(bytes);
  };
  stream.on('data', (part: Buffer) => {
    waiting -= part.length;
    if (waiting > 0) return;
    timesUs.push((performance.now() - sentMs) * 1000);
    if (timesUs.length < count) send();
    else stream.end();
  });
  // Nothing comes back any more.
  stream.on('end', () => stream.end());
  send();
  const status = await statusOf(stream);
  return { failed: status === '0' ? count - timesUs.length : count, timesUs };
}
