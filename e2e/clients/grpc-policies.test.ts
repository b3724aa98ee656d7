import { createServer } from 'node:http';
import { listen } from '@gateway/shared/test/upstream';
import { UndoList } from '@gateway/shared/test/undo-list';
import { afterEach, beforeAll, afterAll, describe, expect, it } from '@jest/globals';
import { CallError, type CallClient, type Fields } from './grpc/calls.ts';
import { openConnectClient } from './grpc/clients/connect.ts';
import { openGrpcJsClient } from './grpc/clients/grpc-js.ts';
import { startHttp2Gateway } from './grpc/http2-gateway.ts';
import { startGrpcJsServer } from './grpc/servers/grpc-js.ts';
import { openRestartingPort } from './grpc/servers/restarting.ts';
import type { PairGateway } from './harness/test-pairs.ts';

const HOST = 'localhost';
/** Every data plane serves a change when it is answered. */
const SERVED = { headers: { prefer: 'wait=20' } };
const MESSAGE = Buffer.from('message');

describe('gRPC calls through a route', () => {
  const undo = new UndoList();
  let gateway: PairGateway;
  let url: string;

  beforeAll(async () => {
    gateway = await startHttp2Gateway();
    const address = new URL(gateway.admin.baseUrl);
    address.hostname = HOST;
    url = address.origin;
  }, 60_000);
  afterEach(() => undo.run());
  afterAll(() => gateway.close());

  /** Makes a route of the host to a new server of calls, or to another upstream. */
  async function serve(route: object, service: object): Promise<void> {
    const { id } = await gateway.service({ url: undefined, protocol: 'http2', ...service });
    const made = await gateway.route({ service_id: id, match: [{ hosts: [HOST] }], ...route });
    undo.add(() => gateway.admin.delete(`/v1/routes/${made.id}`, SERVED));
    await gateway.settled();
  }

  async function startServer() {
    const server = await startGrpcJsServer();
    undo.add(() => server.close());
    return server;
  }

  function opened(client: CallClient): CallClient {
    undo.add(() => client.close());
    return client;
  }

  /** What a unary call sees: the message, or its status and message. */
  async function call(client: CallClient, more: Fields = []): Promise<string> {
    const metadata: Fields = [['authorization', `Bearer ${gateway.admin.token}`], ...more];
    try {
      let seen = '';
      for await (const message of client.call('unary', [MESSAGE], { metadata }).messages) {
        seen = Buffer.from(message).toString();
      }
      return seen;
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      return `${error.status}: ${error.message}`;
    }
  }

  it('run once if ten of them have the same Idempotency-Key', async () => {
    const server = await startServer();
    await serve({}, { url: server.url });
    const client = opened(openGrpcJsClient(url));
    const key: Fields = [['idempotency-key', 'order-1']];
    const seen = await Promise.all(Array.from({ length: 10 }, () => call(client, key)));
    expect(new Set(seen)).toEqual(new Set(['message']));
    expect(server.ledger.begun).toBe(1);
    expect(await call(client)).toBe('message');
    expect(server.ledger.begun).toBe(2);
  });

  it('of which a message is still to come move to the next connection of a server that restarts', async () => {
    const server = await startServer();
    const port = await openRestartingPort(server.url);
    undo.add(() => port.close());
    await serve({ retry_count: 0 }, { url: port.url });
    const restarted = port.restartAt('the first message');
    async function* input() {
      yield Buffer.from('the first message');
      await restarted;
      yield Buffer.from('the second message');
    }
    const client = opened(openGrpcJsClient(url));
    const metadata: Fields = [['authorization', `Bearer ${gateway.admin.token}`]];
    const seen: string[] = [];
    for await (const message of client.call('both', input(), { metadata }).messages) {
      seen.push(Buffer.from(message).toString());
    }
    expect(seen).toEqual(['the first message', 'the second message']);
    expect(server.ledger.begun).toBe(1);
  });

  it('get RESOURCE_EXHAUSTED above the quota, with grpc_errors "trailers" in connect-node too', async () => {
    const server = await startServer();
    await serve(
      { rate_limit: { limit: 1, window_seconds: 3600 }, grpc_errors: 'trailers' },
      { url: server.url },
    );
    expect(await call(opened(openGrpcJsClient(url)))).toBe('message');
    const refused = /^RESOURCE_EXHAUSTED: rate_limit_exceeded: .*quota/s;
    expect(await call(opened(openGrpcJsClient(url)))).toMatch(refused);
    expect(await call(opened(openConnectClient('gRPC', '2', url)))).toMatch(refused);
    expect(server.ledger.begun).toBe(1);
  });

  describe('to an upstream that knows HTTP/1.1 only', () => {
    /** The paths of its requests. */
    let requests: string[];

    async function serveHttp1(protocol: string): Promise<void> {
      requests = [];
      const upstream = await listen(
        createServer((request, response) => {
          const { method = '', url: path = '', headers } = request;
          if (headers['user-agent'] !== 'gateway-health-check') requests.push(`${method} ${path}`);
          response.end('{}');
        }),
      );
      undo.add(() => upstream.close());
      await serve({}, { url: upstream.url, protocol });
    }

    it('fail with a message of the gateway, and reach nothing, if its service has the protocol http2', async () => {
      await serveHttp1('http2');
      const seen = await call(opened(openGrpcJsClient(url)));
      expect(seen).toMatch(/^UNKNOWN: upstream_unavailable: .* speaks HTTP\/1.1 and got HTTP\/2/);
      expect(requests).toEqual([]);
    });

    it('are POST requests for it, if its service has the protocol http1', async () => {
      await serveHttp1('http1');
      expect(await call(opened(openGrpcJsClient(url)))).toMatch(
        /^[A-Z_]+: (?!upstream_unavailable)/,
      );
      expect(requests).toEqual(['POST /gateway.test.Calls/Unary']);
    });
  });
});
