import { heartbeatSubject } from '@gateway/shared/messaging/names';
import { eventually } from '@gateway/shared/test/eventually';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { closedPort } from '@gateway/shared/test/upstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const START_TIMEOUT_MS = 60_000;

interface Tested {
  readonly data_planes: readonly {
    readonly id: string;
    readonly region: string;
    readonly problem: string | null;
    readonly upstreams: readonly { readonly outcome: string; readonly message: string }[];
  }[];
}

describe('a test of connections through real data planes', () => {
  let gateway: Gateway;
  let nats: NatsConnection;

  beforeAll(async () => {
    gateway = await startGateway({
      dataPlanes: 2,
      dataPlaneStart: (_stack, index) => ({ env: { REGION: index === 0 ? 'here' : 'there' } }),
    });
    nats = await connect({ servers: gateway.stack.natsUrl });
    await gateway.route({ name: 'orders' });
    await gateway.settled();
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await nats.close();
    await gateway.close();
  });

  const test = async (body: object) => {
    const answer = await gateway.admin.call('POST', '/v1/connection-tests', { body });
    expect(answer.status).toBe(200);
    return answer.resource() as unknown as Tested;
  };

  it('says from each region whether each upstream is reached, and records nothing', async () => {
    const away = `http://127.0.0.1:${await closedPort()}`;
    const upstreams = [{ url: gateway.upstream.url }, { url: away }];
    const { data_planes: planes } = await test({ environment: 'production', upstreams });
    expect(planes.map(({ region }) => region).sort()).toEqual(['here', 'there']);
    for (const { problem, upstreams: seen } of planes) {
      expect(problem).toBeNull();
      expect(seen.map(({ outcome }) => outcome)).toEqual(['healthy', 'failed']);
      expect(seen[0]?.message).toMatch(
        /^Reached in [\d.]+ ms over HTTP\/1\.1 without TLS\. GET \/healthz answered 200\.$/,
      );
      expect(seen[1]?.message).toBe('It refused the connection.');
    }
    expect(gateway.upstream.seen).toEqual([]);
  });

  it('names a data plane of an older release, which answers nothing', async () => {
    const heartbeat = heartbeatOf('older', {
      gateway_version: '0.0.9',
      interval_ms: 20_000,
      config_versions: { production: 1 },
    });
    nats.publish(heartbeatSubject('older'), JSON.stringify(heartbeat));
    await eventually(async () => {
      const service = { environment: 'production', url: gateway.upstream.url };
      const { data_planes: planes } = await test(service);
      expect(planes.map(({ id, problem }) => [id === 'older', problem]).sort()).toEqual([
        [false, null],
        [false, null],
        [true, 'too_old'],
      ]);
    });
  });
});
