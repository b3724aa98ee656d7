import { recordBatchText, requestRecord } from '@gateway/shared/test/request-record';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { recordSubject } from '@gateway/shared/messaging/names';
import type { RequestRecord } from '@gateway/shared/records/record';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect } from '@nats-io/transport-node';
import { startGateway, type Gateway } from '../harness/gateway.ts';
import { SHORT_QUOTA, shareQuotas } from '../harness/quota-shares.ts';

const testTimeoutMs = 60_000;
const dayMs = 24 * 60 * 60 * 1000;

describe('the delivery of records', () => {
  let gateway: Gateway;
  let controlPlanes: readonly Gateway['controlPlane'][];

  beforeAll(async () => {
    gateway = await startGateway();
    controlPlanes = [gateway.controlPlane, await gateway.stack.startControlPlane()];
    await gateway.route({ name: 'orders', rate_limit: SHORT_QUOTA });
    await gateway.settled();
    await shareQuotas(gateway.dataPlanes);
  }, testTimeoutMs);
  afterAll(() => gateway.close());

  /** Publishes a batch to the stream as a data plane does, the given number of times. */
  async function deliver(batch: readonly RequestRecord[], times = 1): Promise<void> {
    const connection = await connect({ servers: gateway.stack.natsUrl });
    for (let count = 0; count < times; count += 1) {
      const reply = await connection.request(recordSubject('test'), recordBatchText(batch));
      expect(reply.json()).toMatchObject({ stream: expect.any(String) });
    }
    await connection.close();
  }

  const idsOf = async (route: string): Promise<string[]> =>
    (await gateway.admin.get(`/v1/requests?limit=200&route=${route}`))
      .page()
      .data.map(({ id }) => id);

  it('stores a batch once if it is delivered twice', async () => {
    const batch = Array.from({ length: 20 }, () => requestRecord(Date.now(), { route: 'twice' }));
    await deliver(batch, 2);
    const marker = requestRecord(Date.now(), { route: 'after' });
    await deliver([marker]);
    await eventually(async () => expect(await idsOf('after')).toEqual([marker.id]));
    await eventually(async () => {
      expect((await idsOf('twice')).toSorted()).toEqual(batch.map(({ id }) => id).toSorted());
    });
    await eventually(async () => expect(await duplicates()).toBe(20));
    expect(await idsOf('twice')).toHaveLength(20);
  });

  /** The number of records that the control planes had already stored before. */
  async function duplicates(): Promise<number> {
    let sum = 0;
    for (const { adminUrl } of controlPlanes) {
      const text = await (await fetch(`${adminUrl}/metrics`)).text();
      sum += Number(/^gateway_control_plane_ingest_duplicates_total (\d+)$/m.exec(text)?.[1]);
    }
    return sum;
  }

  it('finds a request of 29 days and 23 hours ago, but none older than 30 days', async () => {
    const hourMs = dayMs / 24;
    const young = requestRecord(Date.now() - 30 * dayMs + hourMs, { route: 'young' });
    const old = requestRecord(Date.now() - 30 * dayMs - hourMs, { route: 'old' });
    await deliver([young, old]);
    await eventually(async () => {
      expect((await gateway.admin.get(`/v1/requests/${young.id}`)).status).toBe(200);
    });
    const refused = await gateway.admin.get(`/v1/requests/${old.id}`);
    await expectRefusal(refused, 404, 'request_not_found');
    expect(await idsOf('young')).toEqual([young.id]);
    expect(await idsOf('old')).toEqual([]);
  });

  it(
    'keeps the records of requests that were answered while NATS was down',
    async () => {
      await gateway.stack.nats.stop();
      const ids: string[] = [];
      for (let count = 0; count < 20; count += 1) {
        const answer = await gateway.admin.proxy('orders');
        expect(answer.status).toBe(200);
        ids.push(answer.headers.get('x-request-id') ?? '');
      }
      await gateway.stack.restartNats();
      await eventually(
        async () => expect((await idsOf('orders')).toSorted()).toEqual(ids.toSorted()),
        { deadlineMs: 30_000 },
      );
    },
    testTimeoutMs,
  );
});
