import type { GatewayClient } from '@gateway/client';
import { storableRecord } from '@gateway/control-plane/requests/ingest/storable-record';
import { insertRecords } from '@gateway/control-plane/requests/store/records';
import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import { requestRecord } from '@gateway/shared/test/request-record';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { openGwctl, type Gwctl } from '../../../test/run-gwctl.ts';
import { routeTraffic } from './route-traffic.ts';

const FAILED = { status: 502, outcome: 'upstream_unavailable' } as const;

describe('gwctl routes list', () => {
  let api: TestApi;
  let gwctl: Gwctl;
  beforeAll(async () => {
    api = await startTestApi();
    gwctl = openGwctl({ GATEWAY_URL: api.url, GATEWAY_TOKEN: api.adminToken });
    const service = { name: 'pay', environment: 'production', url: 'http://127.0.0.1:9' };
    const { json } = await api.call('POST', '/v1/services', { body: service });
    for (const name of ['busy', 'quiet', 'broken']) {
      api.clock.advance(1000);
      await api.call('POST', '/v1/routes', { body: { name, service_id: json.data?.id } });
    }
    const sent = (route: string, count: number, changes: object = {}) =>
      Array.from({ length: count }, () =>
        requestRecord(api.clock.nowMs() - 60_000, { route, ...changes }),
      );
    const records = [...sent('busy', 99), ...sent('busy', 1, FAILED)];
    records.push(...sent('broken', 3), ...sent('broken', 1, FAILED));
    await insertRecords(api.db, records.map(storableRecord));
  });
  afterAll(async () => {
    gwctl.remove();
    await api.close();
  });
  const list = (line: string, token = api.adminToken) =>
    gwctl.run(`routes list ${line}`.trim().split(' '), { env: { GATEWAY_TOKEN: token } });

  it('shows the traffic of the last hour when it is ordered by it, the most first', async () => {
    const { code, stdout } = await list('--order error-rate');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^NAME +ENVIRONMENT +STATUS +REQUESTS +ERROR RATE +P95 +SERVES /);
    const rows = stdout.split('\n').slice(1, 4);
    expect(rows[0]).toMatch(/^broken +production +active +4 +25 % +12 ms +pay /);
    expect(rows[1]).toMatch(/^busy +production +active +100 +1 % +12 ms +pay /);
    expect(rows[2]).toMatch(/^quiet +production +active +0 +- +- +pay /);
  });

  it('shows it with -o wide, and otherwise not', async () => {
    expect((await list('-o wide')).stdout).toMatch(/ REQUESTS +ERROR RATE +P95 .*\n[^]* 100 +1 % /);
    for (const line of ['', '--order name']) {
      expect((await list(line)).stdout).toMatch(/^NAME +ENVIRONMENT +STATUS +SERVES /);
    }
  });

  it.each([
    ['requests', ['busy', 'broken', 'quiet']],
    ['name', ['broken', 'busy', 'quiet']],
    ['updated', ['broken', 'quiet', 'busy']],
  ])('is ordered by %s', async (order, names) => {
    expect((await list(`--order ${order} -o name`)).stdout.trimEnd().split('\n')).toEqual(names);
  });

  it('leaves traffic out if the token may not read it, and says so if it is the order', async () => {
    const fields = { environments: ['*'], scopes: ['routes:read'] };
    const token = await api.makeToken({ name: 'reader', ...fields });
    const wide = await list('-o wide', token);
    expect([wide.code, wide.stdout]).toEqual([0, expect.not.stringContaining('ERROR RATE')]);
    const ordered = await list('--order error-rate', token);
    expect(ordered.code).not.toBe(0);
    expect(ordered.stderr).toContain('requests:read');
  });
});

it('asks for each route once, for at most 200 at a time and with URLs of a few kB', async () => {
  const name = fc.string({ minLength: 1, maxLength: 63, unit: fc.constantFrom('a', 'b', '-') });
  const route = fc.record({ environment: fc.constantFrom('production', 'development'), name });
  const key = (one: { environment: string; name: string }) => `${one.environment} ${one.name}`;
  const routes = fc.uniqueArray(route, {
    selector: key,
    minLength: 1,
    maxLength: 700,
    size: 'max',
  });
  await fc.assert(
    fc.asyncProperty(routes, async (all) => {
      const asked: string[] = [];
      const get = (_path: string, { params: { query } }: { params: { query: Asked } }) => {
        const names = query.names.split(',');
        expect(names.length).toBeLessThanOrEqual(query.limit);
        expect(query.limit).toBe(200);
        expect(query.names.length).toBeLessThanOrEqual(6000);
        asked.push(...names.map((one) => key({ environment: query.environment, name: one })));
        const counted = names.map((one) => ({ route: one, requests: one.length }));
        return Promise.resolve({ body: { data: { routes: counted } } });
      };
      const trafficOf = await routeTraffic({ get } as unknown as GatewayClient, all);
      expect(asked.toSorted()).toEqual(all.map(key).toSorted());
      for (const one of all) expect(trafficOf?.(one)?.requests).toBe(one.name.length);
    }),
    { numRuns: 30 },
  );
});

interface Asked {
  readonly environment: string;
  readonly names: string;
  readonly limit: number;
}
