import { outcome } from '../harness/pair.ts';
import { toBase64, valueOf, type Fields } from './calls.ts';
import {
  MESSAGE,
  atMostAhead,
  countOf,
  countedThenStatus,
  ended,
  gate,
  only,
  open,
  openInTurns,
  repeated,
  statusOf,
  tally,
  text,
  type Scene,
} from './scene.ts';

export type Scenario = (scene: Scene) => Promise<string>;

const LARGE_BYTES = 16 * 1024 * 1024;
/** Connections of 1000 calls at one time. */
const FEW = 20;
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
const CONNECTION_SCENARIOS = {
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
