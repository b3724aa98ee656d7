import { Code, ConnectError, createClient, type Client, type Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { BytesValueSchema, type BytesValue } from '@bufbuild/protobuf/wkt';
import { CallError, fromHeaders, type CallClient, type Fields } from '../calls.ts';
import type { CallOptions, Kind, OpenCall } from '../calls.ts';
import { CallsService } from '../descriptor.ts';

export type ConnectProtocol = 'Connect' | 'gRPC-Web' | 'gRPC';
export type HttpVersion = '1.1' | '2';
type Input = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

const TRANSPORTS = {
  Connect: createConnectTransport,
  'gRPC-Web': createGrpcWebTransport,
  gRPC: createGrpcTransport,
};

/** @param ca PEM, if the server has a certificate */
export function openConnectClient(
  protocol: ConnectProtocol,
  httpVersion: HttpVersion,
  baseUrl: string,
  ca?: string,
): CallClient {
  const nodeOptions = ca === undefined ? {} : { ca };
  const transport: Transport = TRANSPORTS[protocol]({ baseUrl, httpVersion, nodeOptions });
  const client = createClient(CallsService, transport);
  return { call: (kind, input, options = {}) => begin(client, kind, input, options), close() {} };
}

function begin(
  client: Client<typeof CallsService>,
  kind: Kind,
  input: Input,
  { metadata = [], timeoutMs, signal }: CallOptions,
): OpenCall {
  let head: Fields = [];
  let trailers: Fields = [];
  const headers = new Headers();
  for (const [name, value] of metadata) headers.append(name, value);
  const options = {
    headers,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(signal && { signal }),
    onHeader: (given: Headers) => void (head = fromHeaders(given)),
    onTrailer: (given: Headers) => void (trailers = fromHeaders(given)),
  };
  async function* run(): AsyncGenerator<BytesValue> {
    if (kind === 'unary') yield await client.unary(await firstOf(input), options);
    else if (kind === 'up') yield await client.up(valuesOf(input), options);
    else if (kind === 'down') yield* client.down(await firstOf(input), options);
    else yield* client.both(valuesOf(input), options);
  }
  return { messages: messagesOf(run()), head: () => head, trailers: () => trailers };
}

async function* messagesOf(values: AsyncIterable<BytesValue>): AsyncGenerator<Uint8Array> {
  try {
    for await (const { value } of values) yield value;
  } catch (error) {
    const failure = ConnectError.from(error, Code.Unknown);
    const [detail] = failure.findDetails(BytesValueSchema);
    throw new CallError(
      failure.code,
      failure.rawMessage,
      fromHeaders(failure.metadata),
      detail?.value,
    );
  }
}

async function* valuesOf(input: Input) {
  for await (const value of input) yield { value: Buffer.from(value) };
}

async function firstOf(input: Input) {
  for await (const value of valuesOf(input)) return value;
  return {};
}
