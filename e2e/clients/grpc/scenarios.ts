import { outcome } from '../harness/pair.ts';
import { CallError, toBase64, valueOf } from './calls.ts';
import type { CallClient, CallOptions, Fields, Kind, OpenCall } from './calls.ts';
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

export type Scenario = (scene: Scene) => Promise<string>;

const LARGE_BYTES = 16 * 1024 * 1024;
/** Connections of 1000 calls at one time. */
const FEW = 20;
const AHEAD = 500;
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

/** What needs HTTP/2 on the whole way, or one connection for each call. */
export const BOTH_WAYS_SCENARIOS = {
  'stream each way': async (scene) => {
    const ahead = atMostAhead(scene.messages);
    return `${await countOf(open(scene, 'both', ahead.input), ahead.back)} messages`;
  },

  'messages in turns': async (scene) =>
    `${await countOf(openInTurns(scene, Array.from({ length: 100 })))} messages`,
} satisfies Readonly<Record<string, Scenario>>;

/** What calls share a connection for. */
export const CONNECTION_SCENARIOS = {
  'end of the connection in the middle of 100 calls': async (scene) => {
    const begun = gate(100);
    const proceed = Promise.withResolvers<undefined>();
    const turns = [begun.arrive, () => proceed.promise, undefined];
    const calls = Array.from({ length: 100 }, () => ended(openInTurns(scene, turns)));
    await begun.all;
    scene.server.goAway();
    const later = Array.from({ length: 20 }, () => ended(openInTurns(scene, [undefined])));
    proceed.resolve(undefined);
    return tally(await Promise.all([...calls, ...later]));
  },

  '1000 calls at one time': async (scene) => {
    scene.server.takeMostConnections();
    const clients = Array.from({ length: 10 }, () => scene.connect());
    try {
      const begun = gate(1000);
      const turns = [begun.arrive, () => begun.all];
      const calls = clients.flatMap((client) =>
        Array.from({ length: 100 }, () => ended(openInTurns({ ...scene, client }, turns))),
      );
      const seen = tally(await Promise.all(calls));
      const most = scene.server.takeMostConnections();
      return `${seen}, on ${most <= FEW ? `at most ${FEW}` : most} connections`;
    } finally {
      for (const client of clients) client.close();
    }
  },
} satisfies Readonly<Record<string, Scenario>>;

/** All of it, for clients and servers of HTTP/2. */
export const HTTP2_SCENARIOS = { ...SCENARIOS, ...BOTH_WAYS_SCENARIOS, ...CONNECTION_SCENARIOS };

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

/** A call whose next message follows when the one before has come back and the step after it is done. */
function openInTurns(
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
function atMostAhead(count: number) {
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
function gate(count: number) {
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
async function ended(call: OpenCall): Promise<string> {
  const status = await countedThenStatus(call);
  return /^\d+ messages$/.test(status) ? 'complete' : status;
}

/** How many calls ended in each way. */
function tally(ends: readonly string[]): string {
  const groups = Map.groupBy(ends, (end) => end);
  return [...groups].map(([end, { length }]) => `${length} ${end}`).join(', ');
}
