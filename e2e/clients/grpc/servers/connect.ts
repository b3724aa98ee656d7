import { createServer as createHttp1Server } from 'node:http';
import { createServer, type ServerHttp2Session } from 'node:http2';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { BytesValueSchema, type BytesValue } from '@bufbuild/protobuf/wkt';
import { Failure, Ledger, serve } from '../behaviour.ts';
import { fromHeaders, type Fields, type Kind } from '../calls.ts';
import { CallsService } from '../descriptor.ts';
import { openPort, type CallServer } from './server.ts';

/** connect-node, which serves Connect and gRPC-Web over HTTP/1.1 and HTTP/2, and gRPC over HTTP/2, at one port. */
export async function startConnectServer(): Promise<CallServer> {
  const ledger = new Ledger();
  const handle = (kind: Kind, requests: AsyncIterable<BytesValue>, context: HandlerContext) =>
    messagesOf(
      serve(
        {
          kind,
          metadata: fromHeaders(context.requestHeader),
          requests: valuesOf(requests),
          signal: context.signal,
          setHead: (fields) => append(context.responseHeader, fields),
          setTrailers: (fields) => append(context.responseTrailer, fields),
        },
        ledger,
      ),
    );
  const listener = connectNodeAdapter({
    routes: (router) =>
      router.service(CallsService, {
        unary: (request, context) => only(handle('unary', listOf(request), context)),
        down: (request, context) => handle('down', listOf(request), context),
        up: (requests, context) => only(handle('up', requests, context)),
        both: (requests, context) => handle('both', requests, context),
      }),
    fallback: (_request, response) => response.end('ok'),
  });
  const sessions = new Set<ServerHttp2Session>();
  const http1 = createHttp1Server(listener);
  const http2 = createServer(listener).on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  const port = await openPort((socket) => {
    socket.once('data', (begin) => {
      socket.pause();
      socket.unshift(begin);
      (begin.toString('latin1').startsWith('PRI ') ? http2 : http1).emit('connection', socket);
      process.nextTick(() => socket.resume());
    });
  });
  return {
    ...port,
    ledger,
    goAway: () => sessions.forEach((session) => session.close()),
  };
}

async function* listOf<T>(message: T): AsyncGenerator<T> {
  yield await Promise.resolve(message);
}

async function* valuesOf(messages: AsyncIterable<BytesValue>): AsyncGenerator<Uint8Array> {
  for await (const { value } of messages) yield value;
}

async function* messagesOf(values: AsyncIterable<Uint8Array>) {
  try {
    for await (const value of values) yield { value };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { code, message, detail } = error;
    const details = detail && [{ desc: BytesValueSchema, value: { value: detail } }];
    throw new ConnectError(message, code, undefined, details);
  }
}

async function only<T>(messages: AsyncIterable<T>): Promise<T> {
  let last: T | undefined;
  // To its end, because a call may fail after its message.
  for await (const message of messages) last = message;
  if (last === undefined) throw new ConnectError('no message', Code.Unknown);
  return last;
}

function append(headers: Headers, fields: Fields): void {
  for (const [name, value] of fields) headers.append(name, value);
}
