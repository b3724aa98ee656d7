import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UndoList } from '@gateway/shared/test/undo-list';
import type { CallClient, Fields } from './grpc/calls.ts';
import { openConnectClient } from './grpc/clients/connect.ts';
import { openGrpcJsClient } from './grpc/clients/grpc-js.ts';
import { startHttp2Gateway } from './grpc/http2-gateway.ts';
import { countedThenStatus, MESSAGE } from './grpc/scene.ts';
import { END_FIELD, startBreakingServer, type BreakingEnd } from './grpc/servers/breaking.ts';
import type { PairGateway } from './harness/test-pairs.ts';

const HOST = 'localhost';
const MAX_MESSAGE_BYTES = 1000;

const CLIENTS = {
  'grpc-js': (url: string) => openGrpcJsClient(url),
  'connect-node': (url: string) => openConnectClient('gRPC', '2', url),
};

/** Those that a client sees as it does direct, but for the message of a reset. */
const SAME_ENDS = [
  'it is reset with CANCEL',
  'it ends with CANCELLED',
  'it ends without a status',
  'it ends without a status within a message',
] as const;

const LOST = 'UNAVAILABLE: upstream_unavailable: The upstream broke off its response.';
const CANCELLED = 'CANCELLED: upstream_unavailable: The upstream cancelled its response.';
const SERVERS = 'CANCELLED: not needed';

describe('the response to a gRPC call that breaks off after a message', () => {
  const undo = new UndoList();
  let gateway: PairGateway;
  let server: Awaited<ReturnType<typeof startBreakingServer>>;
  let url: string;

  beforeAll(async () => {
    gateway = await startHttp2Gateway();
    undo.add(() => gateway.close());
    const address = new URL(gateway.admin.baseUrl);
    address.hostname = HOST;
    url = address.origin;
    server = await startBreakingServer();
    undo.add(() => server.close());
    const { id } = await gateway.service({ url: server.url, protocol: 'http2' });
    await gateway.route({
      service_id: id,
      match: [{ hosts: [HOST] }],
      streaming: true,
      max_message_bytes: MAX_MESSAGE_BYTES,
    });
    await gateway.settled();
  }, 60_000);
  afterAll(() => undo.run());

  /** What a client sees whose call is open in both directions until the response is to end. */
  async function seen(
    open: (url: string) => CallClient,
    base: string,
    end: BreakingEnd,
    more = MESSAGE,
  ) {
    const client = open(base);
    const ended = Promise.withResolvers<undefined>();
    const begun = Promise.withResolvers<undefined>();
    async function* input() {
      yield MESSAGE;
      await begun.promise;
      if (more !== MESSAGE) yield more;
      await ended.promise;
    }
    const metadata: Fields = [
      [END_FIELD, end],
      ['authorization', `Bearer ${gateway.admin.token}`],
    ];
    try {
      return await countedThenStatus(client.call('both', input(), { metadata }), () => {
        begun.resolve(undefined);
        if (more !== MESSAGE) return;
        server.end();
        // grpc-js waits for the end of its stream if it gets no status.
        ended.resolve(undefined);
      });
    } finally {
      ended.resolve(undefined);
      client.close();
    }
  }

  describe.each(Object.entries(CLIENTS))('is to %s', (_name, open) => {
    it.each([
      ['its connection is lost', LOST],
      ['it is reset with CANCEL', CANCELLED],
      ['it ends with CANCELLED', SERVERS],
    ] as const)('if %s: %s', async (end, through) => {
      expect(await seen(open, url, end)).toBe(`1 messages, then ${through}`);
    });

    it.each([
      'its connection is lost within a message',
      'it is reset with CANCEL within a message',
    ] as const)('INTERNAL, if %s', async (end) => {
      expect(await seen(open, url, end)).toMatch(/^1 messages, then INTERNAL: /);
    });

    it('what it is direct, if the server cancels it or does not say how it went', async () => {
      const nameOf = (text: string) => text.split(':')[0];
      for (const end of SAME_ENDS) {
        const [direct, through] = [await seen(open, server.url, end), await seen(open, url, end)];
        expect([end, nameOf(through)]).toEqual([end, nameOf(direct)]);
        if (!end.includes('reset')) expect([end, through]).toEqual([end, direct]);
        expect(direct).toMatch(/^1 messages, then (?!OK)/);
      }
    });

    it('RESOURCE_EXHAUSTED, if a message of the request is too large', async () => {
      const large = Buffer.alloc(MAX_MESSAGE_BYTES + 1);
      expect(await seen(open, url, 'it ends with CANCELLED', large)).toMatch(
        /^1 messages, then RESOURCE_EXHAUSTED: payload_too_large: /,
      );
    });
  });
});
