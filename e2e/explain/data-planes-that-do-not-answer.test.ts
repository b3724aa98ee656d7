import { heartbeatSubject } from '@gateway/shared/messaging/names';
import { eventually } from '@gateway/shared/test/eventually';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '../harness/client.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const startTimeoutMs = 60_000;
/** The deadline of an answer is 3 s. */
const longestCallMs = 4500;

describe('a data plane that does not answer what it is asked', () => {
  let gateway: Gateway;
  let management: Client;
  let nats: NatsConnection;
  let routeId: string;

  beforeAll(async () => {
    gateway = await startGateway({ dataPlanes: 1 });
    management = gateway.admin.at(gateway.controlPlane.baseUrl);
    nats = await connect({ servers: gateway.stack.natsUrl });
    routeId = (await gateway.route({ name: 'orders' })).id;
    await gateway.settled();
  }, startTimeoutMs);
  afterAll(async () => {
    await nats.close();
    await gateway.close();
  });

  const explain = (body: object) =>
    management.call('POST', `/v1/routes/${routeId}/explain`, { body });
  const liveIds = async () =>
    (await management.get('/v1/data-planes')).page().data.map(({ id }) => id);

  it('is named with its version if it is older than the question', async () => {
    const heartbeat = heartbeatOf('older', { gateway_version: '0.0.9', interval_ms: 20_000 });
    nats.publish(heartbeatSubject('older'), JSON.stringify(heartbeat));
    await eventually(async () => expect(await liveIds()).toContain('older'));
    const answer = await explain({ data_plane: 'older' });
    await expectRefusal(answer, 503, 'data_plane_unavailable');
    expect(answer.body).toContain('its version, 0.0.9, is too old');
    const any = await explain({});
    expect(any.status).toBe(200);
  });

  it('gets a clear error within the deadline if it is live and silent', async () => {
    const [plane] = gateway.dataPlanes;
    const id = (await explain({})).resource()['data_plane'];
    process.kill(plane?.pid ?? NaN, 'SIGSTOP');
    try {
      const startedMs = performance.now();
      const answer = await explain({ data_plane: id });
      expect(performance.now() - startedMs).toBeLessThan(longestCallMs);
      await expectRefusal(answer, 503, 'data_plane_unavailable');
      expect(answer.body).toContain('did not answer within 3 s');
    } finally {
      process.kill(plane?.pid ?? NaN, 'SIGCONT');
    }
  });
});
