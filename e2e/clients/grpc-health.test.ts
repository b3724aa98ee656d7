import { eventually } from '@gateway/shared/test/eventually';
import { UndoList } from '@gateway/shared/test/undo-list';
import { afterEach, beforeAll, afterAll, describe, expect, it } from '@jest/globals';
import { SERVICE, type CallClient, type Fields } from './grpc/calls.ts';
import { openGrpcJsClient } from './grpc/clients/grpc-js.ts';
import { startHttp2Gateway } from './grpc/http2-gateway.ts';
import { startGrpcJsServer } from './grpc/servers/grpc-js.ts';
import type { PairGateway } from './harness/test-pairs.ts';

const HOST = 'localhost';
const CALLS = 20;
/** Those of `startHttp2Gateway`. */
const DATA_PLANES = 2;
const CHECKS = { interval_ms: 500, healthy_threshold: 1, unhealthy_threshold: 1 };

describe('servers with grpc-health-check behind a service whose health_check has the type grpc', () => {
  const undo = new UndoList();
  let gateway: PairGateway;
  let client: CallClient;

  beforeAll(async () => {
    gateway = await startHttp2Gateway();
    const address = new URL(gateway.admin.baseUrl);
    address.hostname = HOST;
    client = openGrpcJsClient(address.origin);
  }, 60_000);
  afterEach(() => undo.run());
  afterAll(async () => {
    client.close();
    await gateway.close();
  });

  /** Two servers behind a service that is checked, and a route to it. */
  async function serve(grpcService: string) {
    const servers = [await startGrpcJsServer(), await startGrpcJsServer()] as const;
    for (const server of servers) undo.add(() => server.close());
    const { id } = await gateway.service({
      url: undefined,
      upstreams: servers.map(({ url }) => ({ url })),
      protocol: 'http2',
      health_check: { ...CHECKS, type: 'grpc', grpc_service: grpcService },
    });
    const route = await gateway.route({ service_id: id, match: [{ hosts: [HOST] }] });
    undo.add(() => gateway.admin.delete(`/v1/routes/${route.id}`));
    await gateway.settled();
    /** Resolves when so many data planes say this of an upstream. */
    const said = (reason: string, dataPlanes: number) =>
      eventually(async () => {
        const { body } = await gateway.admin.get(`/v1/services/${id}/health`);
        expect(body.split(reason).length - 1).toBe(dataPlanes);
      });
    return { servers, said };
  }

  async function call(): Promise<void> {
    const metadata: Fields = [['authorization', `Bearer ${gateway.admin.token}`]];
    for (let count = 0; count < CALLS; count += 1) {
      const { messages } = client.call('unary', [Buffer.from('x')], { metadata });
      for await (const message of messages) expect(Buffer.from(message).toString()).toBe('x');
    }
  }

  it('get calls while they are SERVING, and none while they are not', async () => {
    const { servers, said } = await serve(SERVICE);
    const [one, other] = servers;
    one.setHealth('NOT_SERVING');
    await said('grpc_health_not_serving', DATA_PLANES);
    const { begun } = one.ledger;
    await call();
    expect([one.ledger.begun, other.ledger.begun]).toEqual([begun, CALLS]);
    one.setHealth('SERVING');
    await said('grpc_health_not_serving', 0);
    other.setHealth('NOT_SERVING');
    await said('grpc_health_not_serving', DATA_PLANES);
    await call();
    expect([one.ledger.begun, other.ledger.begun]).toEqual([begun + CALLS, CALLS]);
  });

  it('are unhealthy if they do not know the service', async () => {
    const { said } = await serve('no.Such');
    await said('grpc_not_found', 2 * DATA_PLANES);
  });
});
