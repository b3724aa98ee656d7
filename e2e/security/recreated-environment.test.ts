import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '@gateway/shared/test/eventually';
import { UndoList } from '@gateway/shared/test/undo-list';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '../harness/client.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const startTimeoutMs = 60_000;
const NAME = 'returned';
const DAY = 86_400;
/** More than one data plane leases at a time. */
const LIMIT = 20;

/** A route that everybody may call, with a quota, in an environment that is made twice. */
describe('an environment that is created again under the name of a deleted one', () => {
  const undo = new UndoList();
  let gateway: Gateway;
  let dataDirs: string[];
  let atSecond: Client;

  const call = (client: Client) =>
    client.proxy('open', {
      token: null,
      headers: { 'x-gateway-environment': NAME, 'idempotency-key': 'order-1' },
    });
  const shown = ({ status, headers, body }: Awaited<ReturnType<typeof call>>) => ({
    status,
    upstream: status === 200 ? (JSON.parse(body) as { upstream: string }).upstream : undefined,
    replayed: headers.get('idempotent-replayed') === 'true',
    left: headers.get('x-ratelimit-remaining'),
  });

  async function makeContents(upstreamPath: string) {
    const service = await gateway.service({
      environment: NAME,
      url: gateway.upstream.url + upstreamPath,
      credential: { type: 'bearer', token: `of${upstreamPath}` },
    });
    const route = await gateway.admin.post(
      '/v1/routes',
      {
        name: 'open',
        service_id: service.id,
        auth: { type: 'none' },
        rate_limit: { limit: LIMIT, window_seconds: DAY },
      },
      { headers: { prefer: 'wait=10' } },
    );
    expect(route.headers.get('preference-applied')).toBe('wait=10');
    return [`/v1/routes/${route.resource().id}`, `/v1/services/${service.id}`];
  }

  beforeAll(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'gateway-e2e-returned-'));
    undo.add(() => rm(folder, { recursive: true, force: true }));
    dataDirs = [path.join(folder, '1'), path.join(folder, '2')];
    gateway = await startGateway({
      dataPlanes: 2,
      dataPlaneStart: (_stack, index) => ({ env: { DATA_PLANE_DATA_DIR: dataDirs[index] } }),
    });
    undo.add(() => gateway.close());
    const { admin } = gateway;
    await admin.create('/v1/environments', { name: NAME });
    const former = await makeContents('/former');
    expect(shown(await call(admin))).toMatchObject({ upstream: '/former', replayed: false });
    for (let used = 1; used < LIMIT; used += 1) {
      expect(shown(await call(admin))).toMatchObject({ upstream: '/former', replayed: true });
    }
    expect((await call(admin)).status).toBe(429);
    // Away while the environment is deleted and created, with the former configuration on its disk.
    await gateway.dataPlanes[1]?.stop();
    for (const one of [...former, `/v1/environments/${NAME}`]) {
      expect((await admin.delete(one)).status).toBe(204);
    }
    await admin.create('/v1/environments', { name: NAME });
    await makeContents('/present');
    const second = await gateway.stack.startDataPlane({
      env: { DATA_PLANE_DATA_DIR: dataDirs[1] },
    });
    atSecond = admin.at(second.baseUrl);
    // A data plane that starts serves what it has on its disk until it has caught up.
    await gateway.route({ environment: NAME, name: 'newest', methods: ['POST'] });
    await eventually(async () => {
      const headers = { 'x-gateway-environment': NAME };
      const { status } = await atSecond.proxy('newest', { method: 'GET', headers });
      expect(status).toBe(405);
    });
  }, startTimeoutMs);
  afterAll(() => undo.run());

  it('gives no stored response and no count of the former one to its callers, on any data plane', async () => {
    expect(shown(await call(gateway.admin))).toEqual({
      status: 200,
      upstream: '/present',
      replayed: false,
      left: String(LIMIT - 1),
    });
    expect(shown(await call(atSecond))).toMatchObject({ upstream: '/present', replayed: true });
    const credentials = gateway.upstream.seen.map(({ headers }) => headers.authorization);
    expect(credentials).toEqual(['Bearer of/former', 'Bearer of/present']);
  });

  it('shows its records, counts and versions only to a token that covers the name', async () => {
    const own = await gateway.tokenClient({ environments: [NAME] });
    const read = async (client: Client) => {
      const records = (await client.get(`/v1/requests?environment=${NAME}&route=open`)).page().data;
      const stats = (await client.get(`/v1/stats?environment=${NAME}&route=open`)).resource();
      const versions = (await client.get(`/v1/environments/${NAME}/versions`)).page().data;
      return {
        records: records.length,
        counted: (stats['total'] as { requests: number }).requests,
        former: versions.some((version) => version['former'] === true),
      };
    };
    await eventually(async () => {
      expect(await read(gateway.admin)).toEqual({
        records: LIMIT + 3,
        counted: LIMIT + 3,
        former: true,
      });
    });
    expect(await read(own)).toEqual({ records: 2, counted: 2, former: false });
  });
});
