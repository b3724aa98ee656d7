import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { residentBytes } from '../harness/figures.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const startTimeoutMs = 60_000;
const wait = { headers: { prefer: 'wait=20' } };

describe('the list of data planes', () => {
  let gateway: Gateway;
  beforeAll(async () => void (gateway = await startGateway({ dataPlanes: 2 })), startTimeoutMs);
  afterAll(() => gateway.close());

  const list = async () => (await gateway.admin.get('/v1/data-planes')).page().data;
  const stale = async () => (await list()).map((one) => one['stale']);

  it('shows what each one serves, and a write with Prefer: wait is served by every live one', async () => {
    await eventually(async () => expect(await list()).toHaveLength(2));
    const service = await gateway.service();
    const body = { name: 'waited-for', service_id: service.id };
    const made = await gateway.admin.post('/v1/routes', body, wait);
    expect([made.status, made.headers.get('preference-applied')]).toEqual([201, 'wait=20']);
    // Without waiting or retrying.
    for (const { baseUrl } of gateway.dataPlanes) {
      expect((await gateway.admin.at(baseUrl).proxy('waited-for')).status).toBe(200);
    }
    const planes = await list();
    const [first] = planes;
    expect(first).toMatchObject({ stale: false, last_error: null, region: expect.any(String) });
    for (const plane of planes) {
      expect(plane['environments']).toContainEqual(
        expect.objectContaining({ environment: 'production', versions_behind: 0 }),
      );
    }
    const gone = await gateway.admin.delete(`/v1/routes/${made.resource().id}`, wait);
    expect([gone.status, gone.headers.get('preference-applied')]).toEqual([204, 'wait=20']);
    for (const { baseUrl } of gateway.dataPlanes) {
      expect((await gateway.admin.at(baseUrl).proxy('waited-for')).status).toBe(404);
    }
  });

  it('shows what the process of each one uses, as its metrics do', async () => {
    const planes = await eventually(async () => {
      const listed = await list();
      for (const one of listed) expect(one['process_cpu_ratio']).toEqual(expect.any(Number));
      return listed;
    });
    const measured = await Promise.all(
      gateway.dataPlanes.map((one) => residentBytes(one.adminUrl)),
    );
    const [leastBytes, mostBytes] = [Math.min(...measured) / 2, Math.max(...measured) * 2];
    expect(planes).toHaveLength(2);
    for (const one of planes) {
      expect(one['process_cpu_ratio']).toBeGreaterThan(0);
      expect(one['event_loop_delay_ms']).toEqual(expect.any(Number));
      expect(one['process_resident_memory_bytes']).toBeGreaterThan(leastBytes);
      expect(one['process_resident_memory_bytes']).toBeLessThan(mostBytes);
    }
  });

  it('makes writes with Prefer: wait wait until a dead data plane counts as dead, then shows it as stale', async () => {
    const [, second] = gateway.dataPlanes;
    await second?.stop('SIGKILL');
    const hasty = await gateway.admin.post(
      '/v1/services',
      { name: 'hasty', environment: 'production', url: gateway.upstream.url },
      { headers: { prefer: 'wait=1' } },
    );
    expect([hasty.status, hasty.headers.get('preference-applied')]).toEqual([201, null]);
    expect(hasty.headers.get('x-gateway-wait')).toBe('data_planes_behind');
    const path = `/v1/services/${hasty.resource().id}`;
    const patient = await gateway.admin.patch(path, { health_path: '/alive' }, wait);
    expect(patient.headers.get('preference-applied')).toBe('wait=20');
    await eventually(async () => expect((await stale()).sort()).toEqual([false, true]));
  });
});
