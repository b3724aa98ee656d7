import { CallError, toBase64, type CallClient, type CallOptions } from './calls.ts';
import type { Fields, Kind, OpenCall } from './calls.ts';
import type { CallServer } from './servers/server.ts';

/** What a scenario calls, and with what. */
export interface Scene {
  readonly client: CallClient;
  /** Opens a further client, with connections of its own. */
  connect(): CallClient;
  readonly server: CallServer;
  readonly token: string;
  /** How many messages a stream has in each direction. */
  readonly messages: number;
}

export const MESSAGE = Buffer.from('message');
const AHEAD = 500;

export function open(
  { client, token }: Scene,
  kind: Kind,
  input: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  { metadata = [], ...options }: CallOptions = {},
): OpenCall {
  const withToken: Fields = [...metadata, ['authorization', `Bearer ${token}`]];
  return client.call(kind, input, { ...options, metadata: withToken });
}

export const text = (message: Uint8Array) => Buffer.from(message).toString();

export async function only({ messages }: OpenCall): Promise<Uint8Array> {
  for await (const message of messages) return message;
  throw new Error('no message');
}

export async function countOf({ messages }: OpenCall, onMessage?: (count: number) => void) {
  let count = 0;
  for await (const message of messages) {
    count += message.length > 0 ? 1 : 0;
    onMessage?.(count);
  }
  return count;
}

export async function statusOf(call: OpenCall): Promise<string> {
  try {
    await countOf(call);
    return 'OK';
  } catch (error) {
    if (error instanceof CallError) return error.status;
    throw error;
  }
}

/** The messages that arrive before the call fails, and how it fails. */
export async function countedThenStatus(
  call: OpenCall,
  onMessage?: (count: number) => void,
): Promise<string> {
  let count = 0;
  const counted = (now: number) => {
    count = now;
    onMessage?.(now);
  };
  try {
    await countOf(call, counted);
    return `${count} messages`;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    const { status, message, detail } = error;
    const before = count === 0 ? '' : `${count} messages, then `;
    const after = detail === undefined ? '' : `, detail ${toBase64(detail)}`;
    return `${before}${status}: ${message}${after}`;
  }
}

export function* repeated(count: number): Generator<Uint8Array> {
  for (let sent = 0; sent < count; sent += 1) yield MESSAGE;
}

/** A call whose next message follows when the one before has come back and the step after it is done. */
export function openInTurns(
  scene: Scene,
  steps: readonly ((() => Promise<undefined>) | undefined)[],
): OpenCall {
  let back = Promise.withResolvers<undefined>();
  async function* input(): AsyncGenerator<Uint8Array> {
    for (const step of steps) {
      yield MESSAGE;
      await back.promise;
      back = Promise.withResolvers();
      await step?.();
    }
  }
  const call = open(scene, 'both', input());
  async function* messages(): AsyncGenerator<Uint8Array> {
    for await (const message of call.messages) {
      yield message;
      back.resolve(undefined);
    }
  }
  return { ...call, messages: messages() };
}

/**
 * Messages of which so many are sent before one comes back: grpc-js keeps what it has not sent yet in an array, and copies
 * that for each message.
 */
export function atMostAhead(count: number) {
  let received = 0;
  let waiting: (() => void) | undefined;
  async function* input(): AsyncGenerator<Uint8Array> {
    for (let sent = 0; sent < count; sent += 1) {
      if (sent - received >= AHEAD) await new Promise<void>((resolve) => (waiting = resolve));
      yield MESSAGE;
    }
  }
  const back = (now: number) => {
    received = now;
    waiting?.();
    waiting = undefined;
  };
  return { input: input(), back };
}

/** Waits until so many have arrived. */
export function gate(count: number) {
  const { promise: all, resolve } = Promise.withResolvers<undefined>();
  let arrived = 0;
  const arrive = () => {
    arrived += 1;
    if (arrived === count) resolve(undefined);
    return Promise.resolve(undefined);
  };
  return { all, arrive };
}

/** How a call ended: `complete`, or its status. */
export async function ended(call: OpenCall): Promise<string> {
  const status = await countedThenStatus(call);
  return /^\d+ messages$/.test(status) ? 'complete' : status;
}

/** How many calls ended in each way. */
export function tally(ends: readonly string[]): string {
  const groups = Map.groupBy(ends, (end) => end);
  return [...groups].map(([end, { length }]) => `${length} ${end}`).join(', ');
}
