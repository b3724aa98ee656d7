import { GRPC_STATUS } from '@gateway/shared/http/grpc';

/** What a call sends and receives: a message each way, or a stream in one direction or in both. */
export type Kind = 'unary' | 'down' | 'up' | 'both';

/** The methods of the service `gateway.test.Calls`. Every message is a `google.protobuf.BytesValue`. */
export const METHODS: Readonly<Record<Kind, string>> = {
  unary: 'Unary',
  down: 'Down',
  up: 'Up',
  both: 'Both',
};
export const SERVICE = 'gateway.test.Calls';

/** Metadata in the order of the lines. Values of names that end with `-bin` are base64 without padding. */
export type Fields = readonly (readonly [name: string, value: string])[];

export interface CallOptions {
  readonly metadata?: Fields;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** The names of the statuses, by their numbers. */
const STATUSES = Object.keys(GRPC_STATUS);

/** How a call failed. */
export class CallError extends Error {
  /** Of {@link STATUSES}. */
  readonly status: string;
  /** Metadata that came with the status. */
  readonly fields: Fields;
  /** The `BytesValue` among the details of the status. */
  readonly detail: Uint8Array | undefined;

  constructor(code: number, message: string, fields: Fields, detail: Uint8Array | undefined) {
    super(message);
    this.status = STATUSES[code] ?? String(code);
    this.fields = fields;
    this.detail = detail;
  }
}

/** A call that was begun. */
export interface OpenCall {
  /** @throws {CallError} if the call fails */
  readonly messages: AsyncIterable<Uint8Array>;
  /** The metadata at the beginning, once a message was received. */
  head(): Fields;
  /** The metadata at the end, once all messages were received. */
  trailers(): Fields;
}

/** A client of the service, of whatever library. */
export interface CallClient {
  call(
    kind: Kind,
    input: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
    options?: CallOptions,
  ): OpenCall;
  close(): void;
}

/** The values of a name, joined. */
export function valueOf(fields: Fields, name: string): string | undefined {
  const values = fields.filter(([one]) => one === name).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(', ');
}

/** The fields of `Headers`, which has one value for each name. */
export function fromHeaders(headers: Headers): Fields {
  return [...headers].map(([name, value]) => [
    name,
    name.endsWith('-bin') ? value.replaceAll(/=+(?=,|$)/g, '') : value,
  ]);
}

/** Base64 without padding, as gRPC and Connect send it. */
export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}
