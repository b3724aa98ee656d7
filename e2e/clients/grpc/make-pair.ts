import type { Observations, Pair, StartedServer, Target } from '../harness/pair.ts';
import type { CallClient } from './calls.ts';
import { runScenarios, type Scenario } from './scenarios.ts';
import type { CallServer } from './servers/server.ts';

/** Streams have so many messages in the tests of every change. */
export const MESSAGES = 1000;
/** Larger than a stream or a message of any scenario. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** Fields of a route whose calls are streams. */
export const STREAMING = {
  streaming: true,
  max_message_bytes: MAX_BODY_BYTES,
  max_body_bytes: MAX_BODY_BYTES,
};

/** What {@link makePair} makes a pair of. */
export interface Parts extends Omit<Pair, 'start'> {
  readonly scenarios: Readonly<Record<string, Scenario>>;
  readonly connect: (target: Target) => CallClient;
  readonly startServer: () => Promise<CallServer>;
  /** Fields of the service and of the route. */
  readonly service?: Readonly<Record<string, unknown>>;
  readonly route?: Readonly<Record<string, unknown>>;
  readonly messages?: number;
}

/** A pair whose client runs scenarios. */
export function makePair({
  scenarios,
  connect,
  startServer,
  service = {},
  route = {},
  messages = MESSAGES,
  ...pair
}: Parts): Pair {
  const start = async (): Promise<StartedServer> => {
    const server = await startServer();
    return {
      urls: [server.url],
      service,
      route: { max_body_bytes: MAX_BODY_BYTES, ...route },
      close: () => server.close(),
      async use(target) {
        const { token } = target;
        const open = () => connect(target);
        const client = open();
        try {
          return await runScenarios(scenarios, { client, server, connect: open, token, messages });
        } finally {
          client.close();
        }
      },
    };
  };
  return { ...pair, start };
}

/** What clients of all kinds see. */
export const SEEN: Observations = {
  'unary call': 'message',
  'message of 16 MiB each way': '16777216 bytes',
  'status with details': 'FAILED_PRECONDITION: größer als erlaubt, detail AP8QCg0',
  'metadata at the beginning and at the end': 'one, two; AP8QCg0; one, two; AP8QCg0',
  'stream of the server': `${MESSAGES} messages`,
  'stream of the client': `${MESSAGES} messages, ${7 * MESSAGES} bytes`,
  'error after 10 messages': '10 messages, then RESOURCE_EXHAUSTED: enough',
  'deadline, and a server that does not answer': 'DEADLINE_EXCEEDED, and the server sees it',
};

/** What clients of streams in both directions at one time see. */
export const SEEN_BOTH_WAYS: Observations = {
  'stream each way': `${MESSAGES} messages`,
  'messages in turns': '100 messages',
};

export const GOAWAY = 'end of the connection in the middle of 100 calls';
/** What clients see that repeat calls which a server has not begun. */
export const SEEN_OF_CONNECTIONS: Observations = {
  [GOAWAY]: '120 complete',
  '1000 calls at one time': '1000 complete, on at most 20 connections',
};

export const CANCELLED = 'cancelled by the client after 10 messages';
export const DEAD = 'server that dies after 10 messages';
/** What the gateway tells clients of gRPC then. */
export const BROKEN_OFF =
  '10 messages, then UNAVAILABLE: upstream_unavailable: The upstream broke off its response.';
