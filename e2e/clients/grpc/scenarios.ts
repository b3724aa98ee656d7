import { outcome } from '../harness/pair.ts';
import { CallError, toBase64, valueOf } from './calls.ts';
import type { CallClient, CallOptions, Fields, Kind, OpenCall } from './calls.ts';
import type { CallServer } from './servers/server.ts';

/** What a scenario calls, and with what. */
export interface Scene {
  readonly client: CallClient;
  readonly server: CallServer;
  readonly token: string;
  /** How many messages a stream has in each direction. */
  readonly messages: number;
}

export type Scenario = (scene: Scene) => Promise<string>;

const LARGE_BYTES = 16 * 1024 * 1024;
const MESSAGE = Buffer.from('message');
const BINARY = Buffer.from([0, 255, 16, 10, 13]);

/** What clients of all kinds do. The names are the words of docs/use/clients.md. */
export const SCENARIOS = {
  'unary call': async (scene) => text(await only(open(scene, 'unary', [MESSAGE]))),

  'message of 16 MiB each way': async (scene) => {
    const { length } = await only(open(scene, 'unary', [Buffer.alloc(LARGE_BYTES, 'm')]));
    return `${length} bytes`;
  },

  'status with details': (scene) => {
    const message = ['message', encodeURIComponent('größer als erlaubt')] as const;
    const detail = ['detail-bin', toBase64(BINARY)] as const;
    return countedThenStatus(
      open(scene, 'unary', [MESSAGE], {
        metadata: [['do', 'fail'], ['code', '9'], message, detail],
      }),
    );
  },

  'metadata at the beginning and at the end': async (scene) => {
    const metadata: Fields = [
      ['echo-text', 'one'],
      ['echo-text', 'two'],
      ['echo-bin', toBase64(BINARY)],
    ];
    const call = open(scene, 'down', [MESSAGE], { metadata });
    await countOf(call);
    const names = ['text', 'bin'];
    return [
      ...names.map((name) => valueOf(call.head(), `echo-${name}`)),
      ...names.map((name) => valueOf(call.trailers(), `trailer-${name}`)),
    ].join('; ');
  },

  'stream of the server': async (scene) => {
    const metadata: Fields = [['count', String(scene.messages)]];
    return `${await countOf(open(scene, 'down', [MESSAGE], { metadata }))} messages`;
  },

  'stream of the client': async (scene) =>
    text(await only(open(scene, 'up', repeated(scene.messages)))),

  'error after 10 messages': (scene) => {
    const metadata: Fields = [
      ['count', '10'],
      ['do', 'fail'],
      ['code', '8'],
      ['message', 'enough'],
    ];
    return countedThenStatus(open(scene, 'down', [MESSAGE], { metadata }));
  },

  'deadline, and a server that does not answer': async (scene) => {
    const { ledger } = scene.server;
    const cancelled = ledger.untilCancelled(ledger.cancelled + 1);
    const call = open(scene, 'unary', [MESSAGE], { metadata: [['do', 'wait']], timeoutMs: 300 });
    const seen = await statusOf(call);
    await cancelled;
    return `${seen}, and the server sees it`;
  },

  'cancelled by the client after 10 messages': async (scene) => {
    const { ledger } = scene.server;
    const cancelled = ledger.untilCancelled(ledger.cancelled + 1);
    const metadata: Fields = [
      ['count', '10'],
      ['do', 'wait'],
    ];
    const abort = new AbortController();
    const call = open(scene, 'down', [MESSAGE], { metadata, signal: abort.signal });
    const seen = await countedThenStatus(call, (count) => {
      if (count === 10) abort.abort();
    });
    await cancelled;
    return `${seen}, and the server sees it`;
  },

  'server that dies after 10 messages': (scene) => {
    const metadata: Fields = [
      ['count', '10'],
      ['do', 'wait'],
    ];
    return countedThenStatus(open(scene, 'down', [MESSAGE], { metadata }), (count) => {
      if (count === 10) scene.server.die();
    });
  },
} satisfies Readonly<Record<string, Scenario>>;

/** What needs HTTP/2 on the whole way. */
export const DUPLEX_SCENARIOS = {
  'stream each way': async (scene) =>
    `${await countOf(open(scene, 'both', repeated(scene.messages)))} messages`,

  'messages in turns': async (scene) => {
    const turns = inTurns(100);
    return `${await countOf(open(scene, 'both', turns.input), turns.next)} messages`;
  },
} satisfies Readonly<Record<string, Scenario>>;

/** Runs scenarios one after the other. */
export async function runScenarios(
  scenarios: Readonly<Record<string, Scenario>>,
  scene: Scene,
): Promise<Readonly<Record<string, string>>> {
  const seen: Record<string, string> = {};
  for (const [name, scenario] of Object.entries(scenarios)) {
    seen[name] = await outcome(() => scenario(scene));
  }
  return seen;
}

function open(
  { client, token }: Scene,
  kind: Kind,
  input: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  { metadata = [], ...options }: CallOptions = {},
): OpenCall {
  const withToken: Fields = [...metadata, ['authorization', `Bearer ${token}`]];
  return client.call(kind, input, { ...options, metadata: withToken });
}

const text = (message: Uint8Array) => Buffer.from(message).toString();

async function only({ messages }: OpenCall): Promise<Uint8Array> {
  for await (const message of messages) return message;
  throw new Error('no message');
}

async function countOf({ messages }: OpenCall, onMessage?: (count: number) => void) {
  let count = 0;
  for await (const message of messages) {
    count += message.length > 0 ? 1 : 0;
    onMessage?.(count);
  }
  return count;
}

async function statusOf(call: OpenCall): Promise<string> {
  try {
    await countOf(call);
    return 'OK';
  } catch (error) {
    if (error instanceof CallError) return error.status;
    throw error;
  }
}

/** The messages that arrive before the call fails, and how it fails. */
async function countedThenStatus(
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

function* repeated(count: number): Generator<Uint8Array> {
  for (let sent = 0; sent < count; sent += 1) yield MESSAGE;
}

/** An input whose next message follows when the one before came back. */
function inTurns(count: number) {
  let next = Promise.withResolvers<undefined>();
  async function* input(): AsyncGenerator<Uint8Array> {
    for (let sent = 0; sent < count; sent += 1) {
      yield MESSAGE;
      await next.promise;
      next = Promise.withResolvers();
    }
  }
  return { input: input(), next: () => next.resolve(undefined) };
}
