import {
  Client,
  credentials,
  type Metadata,
  type ClientDuplexStream,
  type ClientReadableStream,
  type ClientUnaryCall,
  type ClientWritableStream,
  type ServiceError,
} from '@grpc/grpc-js';
import { decodeBytes, encodeBytes } from '../bytes-value.ts';
import { CallError, METHODS, SERVICE, type CallClient, type Fields } from '../calls.ts';
import type { CallOptions, Kind, OpenCall } from '../calls.ts';
import { fromMetadata, toMetadata } from '../grpc-js-metadata.ts';
import { DETAILS, detailsOf } from '../status-details.ts';

type Reading = ClientReadableStream<Buffer> | ClientDuplexStream<Buffer, Buffer>;
type Writing = ClientWritableStream<Buffer> | ClientDuplexStream<Buffer, Buffer>;
type Input = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** @param ca PEM, if the server has a certificate */
export function openGrpcJsClient(url: string, ca?: string): CallClient {
  const { host } = new URL(url);
  const secure =
    ca === undefined ? credentials.createInsecure() : credentials.createSsl(Buffer.from(ca));
  const client = new Client(host, secure, {
    'grpc.max_receive_message_length': -1,
    // Connections of its own.
    'grpc.use_local_subchannel_pool': 1,
  });
  return {
    call: (kind, input, options = {}) => begin(client, kind, input, options),
    close: () => client.close(),
  };
}

function begin(client: Client, kind: Kind, input: Input, options: CallOptions): OpenCall {
  let head: Fields = [];
  let trailers: Fields = [];
  const { timeoutMs, signal } = options;
  const common = [`/${SERVICE}/${METHODS[kind]}`, encodeBytes, decodeBytes] as const;
  const metadata = toMetadata(options.metadata ?? []);
  const settings = timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };
  const watch = (call: ClientUnaryCall | Reading | Writing) => {
    call.on('metadata', (given: Metadata) => (head = fromMetadata(given)));
    call.on('status', (given: { metadata: Metadata }) => (trailers = fromMetadata(given.metadata)));
    signal?.addEventListener('abort', () => call.cancel());
  };

  async function* unary(): AsyncGenerator<Buffer> {
    const message = await firstOf(input);
    yield await answerOf((done) =>
      watch(client.makeUnaryRequest(...common, message, metadata, settings, done)),
    );
  }
  async function* up(): AsyncGenerator<Buffer> {
    yield await answerOf((done) => {
      const call = client.makeClientStreamRequest(...common, metadata, settings, done);
      watch(call);
      void write(call, input);
    });
  }
  async function* down(): AsyncGenerator<Buffer> {
    const message = await firstOf(input);
    const call = client.makeServerStreamRequest(...common, message, metadata, settings);
    watch(call);
    yield* messagesOf(call);
  }
  async function* both(): AsyncGenerator<Buffer> {
    const call = client.makeBidiStreamRequest(...common, metadata, settings);
    watch(call);
    void write(call, input);
    yield* messagesOf(call);
  }

  const messages = { unary, up, down, both }[kind]();
  return { messages, head: () => head, trailers: () => trailers };
}

function answerOf(
  call: (done: (error: ServiceError | null, value?: Buffer) => void) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    call((error, value) => {
      if (error === null && value !== undefined) resolve(value);
      else reject(callErrorOf(error));
    });
  });
}

async function* messagesOf(call: Reading): AsyncGenerator<Buffer> {
  try {
    for await (const message of call) yield message as Buffer;
  } catch (error) {
    throw callErrorOf(error);
  }
}

async function write(call: Writing, input: Input): Promise<void> {
  call.on('error', () => undefined);
  for await (const message of input) {
    if (call.writableEnded || call.destroyed) return;
    if (!call.write(Buffer.from(message))) await drained(call);
  }
  call.end();
}

/** Resolves when the stream takes more, or has ended. */
function drained(call: Writing): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const event of EVENTS) call.off(event, done);
      resolve();
    };
    for (const event of EVENTS) call.on(event, done);
  });
}

const EVENTS = ['drain', 'status', 'close'];

async function firstOf(input: Input): Promise<Buffer> {
  for await (const message of input) return Buffer.from(message);
  return Buffer.alloc(0);
}

function callErrorOf(error: unknown): CallError {
  const { code, details, metadata } = error as ServiceError;
  const [status] = metadata.get(DETAILS);
  const [detail] = typeof status === 'object' ? detailsOf(status) : [];
  return new CallError(code, details, fromMetadata(metadata), detail);
}
