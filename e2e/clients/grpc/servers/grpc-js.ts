import {
  Metadata,
  Server,
  ServerCredentials,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { Failure, Ledger, serve } from '../behaviour.ts';
import { decodeBytes, encodeBytes } from '../bytes-value.ts';
import { METHODS, SERVICE, type Kind } from '../calls.ts';
import { fromMetadata, toMetadata } from '../grpc-js-metadata.ts';
import { DETAILS, encodeStatus } from '../status-details.ts';
import { openPort, type CallServer } from './server.ts';

type Reader = ServerReadableStream<Buffer, Buffer>;
type Writer = ServerWritableStream<Buffer, Buffer>;
type Duplex = ServerDuplexStream<Buffer, Buffer>;
/** What calls of every kind have. */
interface Call {
  readonly metadata: Metadata;
  sendMetadata(metadata: Metadata): void;
  on(event: string, listener: () => void): unknown;
}

/** Calls in flight of a drained connection may take this long. */
const GRACE_MS = 60_000;

/** A server whose health `grpc-health-check` serves. */
export interface CheckedServer extends CallServer {
  /** Of the service of calls. The server as a whole stays SERVING. */
  setHealth(status: 'SERVING' | 'NOT_SERVING'): void;
}

export async function startGrpcJsServer(): Promise<CheckedServer> {
  const ledger = new Ledger();
  const server = new Server({ 'grpc.max_receive_message_length': -1 });
  const { port, injector } = await openInjector(server);

  const open = (kind: Kind, call: Call, requests: AsyncIterable<Buffer>) => {
    const cancelled = new AbortController();
    call.on('cancelled', () => cancelled.abort());
    const trailers = new Metadata();
    const messages = serve(
      {
        kind,
        metadata: fromMetadata(call.metadata),
        requests,
        signal: cancelled.signal,
        setHead: (fields) => call.sendMetadata(toMetadata(fields)),
        setTrailers: (fields) => trailers.merge(toMetadata(fields)),
      },
      ledger,
    );
    return { messages, trailers };
  };
  /** Answers with the only message. */
  const answer = async (kind: Kind, call: Call, requests: AsyncIterable<Buffer>, done: Done) => {
    const { messages, trailers } = open(kind, call, requests);
    try {
      let last = Buffer.alloc(0);
      for await (const message of messages) last = Buffer.from(message);
      done(null, last, trailers);
    } catch (error) {
      done(statusOf(error, trailers));
    }
  };
  const stream = async (kind: Kind, call: Writer | Duplex, requests: AsyncIterable<Buffer>) => {
    const { messages, trailers } = open(kind, call, requests);
    try {
      for await (const message of messages) {
        if (!call.write(Buffer.from(message))) await drained(call);
        if (call.cancelled) return;
      }
      call.end(trailers);
    } catch (error) {
      if (!call.cancelled) call.emit('error', statusOf(error, trailers));
    }
  };
  server.addService(DEFINITION, {
    unary: (call: ServerUnaryCall<Buffer, Buffer>, done: Done) =>
      void answer('unary', call, listOf(call.request), done),
    up: (call: Reader, done: Done) => void answer('up', call, call, done),
    down: (call: Writer) => void stream('down', call, listOf(call.request)),
    both: (call: Duplex) => void stream('both', call, call.iterator(KEPT)),
  });
  const health = new HealthImplementation({ '': 'SERVING', [SERVICE]: 'SERVING' });
  health.addToServer(server);
  return {
    ...port,
    ledger,
    setHealth: (status) => health.setStatus(SERVICE, status),
    goAway: () => injector.drain(GRACE_MS),
    async close() {
      server.forceShutdown();
      await port.close();
    },
  };
}

type Done = sendUnaryData<Buffer>;
/** The end of the requests is not that of the call. */
const KEPT = { destroyOnReturn: false };

const DEFINITION = Object.fromEntries(
  Object.entries(METHODS).map(([kind, method]) => [
    kind,
    {
      path: `/${SERVICE}/${method}`,
      requestStream: kind === 'up' || kind === 'both',
      responseStream: kind === 'down' || kind === 'both',
      requestSerialize: encodeBytes,
      requestDeserialize: decodeBytes,
      responseSerialize: encodeBytes,
      responseDeserialize: decodeBytes,
    },
  ]),
);

/** A port whose connections the server gets, so that a test can count and end them. */
async function openInjector(server: Server) {
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const port = await openPort((socket) => injector.injectConnection(socket));
  return { port, injector };
}

async function* listOf(message: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(message);
}

function statusOf(error: unknown, metadata: Metadata) {
  if (!(error instanceof Failure)) throw error;
  const { code, message: details, detail } = error;
  if (detail !== undefined) metadata.set(DETAILS, Buffer.from(encodeStatus(code, details, detail)));
  return { code, details, metadata };
}

/** Resolves when the stream takes more, or has ended. */
function drained(stream: Writer | Duplex): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const event of EVENTS) stream.off(event, done);
      resolve();
    };
    for (const event of EVENTS) stream.on(event, done);
  });
}

const EVENTS = ['drain', 'close', 'cancelled'];
