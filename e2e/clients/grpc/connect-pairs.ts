import type { Observations, Pair } from '../harness/pair.ts';
import { pinnedVersion } from '../harness/pinned-version.ts';
import { openConnectClient, type ConnectProtocol, type HttpVersion } from './clients/connect.ts';
import { runScenarios, SCENARIOS } from './scenarios.ts';
import { startConnectServer } from './servers/connect.ts';

const MESSAGES = 1000;
const MAX_BODY_BYTES = 32 * 1024 * 1024;

const SEEN: Observations = {
  'unary call': 'message',
  'message of 16 MiB each way': '16777216 bytes',
  'status with details': 'FAILED_PRECONDITION: größer als erlaubt, detail AP8QCg0',
  'metadata at the beginning and at the end': 'one, two; AP8QCg0; one, two; AP8QCg0',
  'stream of the server': `${MESSAGES} messages`,
  'stream of the client': `${MESSAGES} messages, ${7 * MESSAGES} bytes`,
  'error after 10 messages': '10 messages, then RESOURCE_EXHAUSTED: enough',
  'deadline, and a server that does not answer': 'DEADLINE_EXCEEDED, and the server sees it',
  'cancelled by the client after 10 messages':
    '10 messages, then CANCELLED: This operation was aborted, and the server sees it',
};
const DEAD = 'server that dies after 10 messages';

/** Connect's client for Node, which needs no HTTP/2 for Connect and gRPC-Web, and its server. */
export const connectPairs: readonly Pair[] = [
  pair('Connect', '1.1', { [DEAD]: '10 messages, then ABORTED: aborted' }),
  pair('gRPC-Web', '1.1', { [DEAD]: '10 messages, then ABORTED: aborted' }),
];

function pair(
  protocol: ConnectProtocol,
  httpVersion: HttpVersion,
  seen: Observations,
  otherwise: Observations = {},
): Pair {
  return {
    client: 'connect-node',
    version: pinnedVersion('@connectrpc/connect-node'),
    variant: `${protocol}, HTTP/${httpVersion}`,
    direct: { ...SEEN, ...seen },
    otherwise,
    async start() {
      const server = await startConnectServer();
      return {
        urls: [server.url],
        route: { max_body_bytes: MAX_BODY_BYTES },
        close: () => server.close(),
        use({ url, token, ca }) {
          const client = openConnectClient(protocol, httpVersion, url, ca);
          return runScenarios(SCENARIOS, { client, server, token, messages: MESSAGES });
        },
      };
    },
  };
}
