import { EventEmitter, once } from 'node:events';
import { valueOf, type Fields, type Kind } from './calls.ts';

/** A call as a server sees it, of whatever library. */
export interface ServedCall {
  readonly kind: Kind;
  readonly metadata: Fields;
  readonly requests: AsyncIterable<Uint8Array>;
  /** Aborts when the call was cancelled, or its deadline has passed. */
  readonly signal: AbortSignal;
  setHead(fields: Fields): void;
  setTrailers(fields: Fields): void;
}

/** How a call is to fail. */
export class Failure extends Error {
  readonly code: number;
  /** The value of a `BytesValue` among the details of the status. */
  readonly detail: Uint8Array | undefined;

  constructor(code: number, message: string, detail: Uint8Array | undefined) {
    super(message);
    this.code = code;
    this.detail = detail;
  }
}

/** What a server keeps about its calls. */
export class Ledger {
  readonly #events = new EventEmitter();
  /** Calls that were begun. */
  begun = 0;
  cancelled = 0;

  count(what: 'begun' | 'cancelled'): void {
    this[what] += 1;
    this.#events.emit('change');
  }

  /** Resolves when so many calls were cancelled. */
  async untilCancelled(count: number): Promise<void> {
    while (this.cancelled < count) await once(this.#events, 'change');
  }
}

/**
 * Serves a call as its metadata says. `do` is what it does: nothing special, `fail` or `wait`; `count` the messages
 * that it sends before, `bytes` the size of each. `echo-*` comes back at the beginning, and as `trailer-*` at the end.
 */
export async function* serve(call: ServedCall, ledger: Ledger): AsyncGenerator<Uint8Array> {
  const { kind, metadata, requests, signal } = call;
  ledger.count('begun');
  const onAbort = () => ledger.count('cancelled');
  signal.addEventListener('abort', onAbort);
  const echoed = metadata.filter(([name]) => name.startsWith('echo-'));
  call.setHead(echoed);
  call.setTrailers(echoed.map(([name, value]) => [name.replace('echo-', 'trailer-'), value]));
  try {
    if (kind === 'both') yield* requests;
    else if (kind === 'up') yield await summary(requests);
    else yield* answer(kind, await firstOf(requests), metadata);
    await endAsTold(call);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function endAsTold({ metadata, signal }: ServedCall): Promise<void> {
  const told = valueOf(metadata, 'do');
  if (told === 'fail') {
    const detail = valueOf(metadata, 'detail-bin');
    throw new Failure(
      Number(valueOf(metadata, 'code')),
      decodeURIComponent(valueOf(metadata, 'message') ?? ''),
      detail === undefined ? undefined : Buffer.from(detail, 'base64'),
    );
  }
  if (told === 'wait' && !signal.aborted) await once(signal, 'abort');
}

function* answer(kind: Kind, message: Uint8Array, metadata: Fields): Generator<Uint8Array> {
  if (kind === 'unary') {
    if (valueOf(metadata, 'do') === undefined) yield message;
    return;
  }
  const count = Number(valueOf(metadata, 'count') ?? 1);
  const bytes = Buffer.alloc(Number(valueOf(metadata, 'bytes') ?? 1), 'm');
  for (let sent = 0; sent < count; sent += 1) yield bytes;
}

async function firstOf(requests: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  for await (const message of requests) return message;
  return new Uint8Array();
}

async function summary(requests: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  let messages = 0;
  let bytes = 0;
  for await (const message of requests) {
    messages += 1;
    bytes += message.length;
  }
  return Buffer.from(`${messages} messages, ${bytes} bytes`);
}
