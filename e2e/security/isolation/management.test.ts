import { expectRefusal } from '@gateway/shared/test/refusal';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from '../../harness/client.ts';
import { startGateway, type Gateway } from '../../harness/gateway.ts';
import { createCallers, ENVIRONMENTS, JUST_ROUTES, type Callers } from './callers.ts';
import { CALLERS, MANAGEMENT, type CallerKind } from './expectations.ts';
import type { ManagementRow, ManagementRows } from './calls/management-row.ts';
import { managementRows } from './calls/management-rows.ts';
import type { ManagementCall } from './fresh-resources.ts';

const startTimeoutMs = 60_000;

/** Each endpoint with each kind of caller: a caller neither sees nor changes what it does not cover. */
describe('the isolation matrix of the management API', () => {
  let gateway: Gateway;
  let rows: ManagementRows;
  const callers: Partial<Record<keyof typeof ENVIRONMENTS, Callers>> = {};
  let calls = 0;

  beforeAll(async () => {
    gateway = await startGateway({ env: { AUTH_FAILURE_LIMIT: '100000' } });
    const service = await gateway.service();
    const route = await gateway.route({ name: 'orders', service_id: service.id });
    const reach = { environments: ['production'], routes: ['orders'], scopes: ['proxy'] };
    const { tokenId } = await gateway.tokenClient(reach);
    await gateway.settled();
    const request = await gateway.admin.proxy('orders');
    expect(request.status).toBe(200);
    const requestId = request.headers.get('x-request-id') ?? '';
    const ids = { serviceId: service.id, routeId: route.id, tokenId, requestId };
    rows = managementRows({ gateway, ...ids });
    await eventually(async () => {
      expect((await gateway.admin.get('/v1/requests?route=orders')).body).toContain(requestId);
    });
    callers.production = await createCallers(gateway, ENVIRONMENTS.production);
    callers.all = await createCallers(gateway, ENVIRONMENTS.all);
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  /** The secret that this caller sends to this endpoint. */
  async function secretOf(caller: CallerKind, row: ManagementRow): Promise<string | null> {
    const covered = row.environments ?? 'production';
    if (caller === 'with exactly the required rights') {
      const routes = row.routes === 'all' ? ['*'] : JUST_ROUTES;
      const reach = { environments: ENVIRONMENTS[covered], routes };
      return (await gateway.tokenClient({ ...reach, scopes: row.scopes })).token;
    }
    return callers[covered]?.get(caller) ?? null;
  }

  it('has a row for every endpoint', async () => {
    const { paths } = (await gateway.admin.get('/v1/openapi.json')).json() as {
      paths: Record<string, object>;
    };
    const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(endpoints.sort()).toEqual(MANAGEMENT.map(([endpoint]) => endpoint).sort());
    expect(endpoints).toEqual(Object.keys(rows).sort());
  });

  describe.each(MANAGEMENT)('%s', (endpoint, cells) => {
    const expectations = CALLERS.map((caller) => [cells.get(caller) ?? 'x', caller] as const);
    // A call that is refused changes nothing, so they all try the same one. Some endpoints refuse nobody.
    const refused = expectations.filter(([expected]) => expected === 'x');
    const others = expectations.filter(([expected]) => expected !== 'x');
    let refusedCall: ManagementCall | undefined;
    /** The actions that the audit events must have, by request id. */
    const actions = new Map<string, readonly string[]>();

    async function sent(row: ManagementRow, caller: CallerKind, { path, body }: ManagementCall) {
      const token = await secretOf(caller, row);
      // Alternates between the data plane and the control plane.
      const planes = [gateway.controlPlane, ...gateway.dataPlanes];
      const { baseUrl = '' } = planes[(calls += 1) % planes.length] ?? {};
      const [method = ''] = endpoint.split(' ');
      return gateway.admin.at(baseUrl).call(method, path, { token, body });
    }

    function rowOf(): ManagementRow {
      const row = rows[endpoint];
      if (row === undefined) throw new Error(`the matrix does not say how to call ${endpoint}`);
      return row;
    }

    for (const [, caller] of refused) {
      it(`answers 401 to a caller ${caller}`, async () => {
        const row = rowOf();
        const answer = await sent(row, caller, (refusedCall ??= await row.call()));
        actions.set(requestIdOf(answer), []);
        await expectRefusal(answer, 401, 'authentication_failed');
      });
    }

    it.each(others)('answers %s to a caller %s', async (expected, caller) => {
      await refusedCall?.cleanUp?.();
      refusedCall = undefined;
      const row = rowOf();
      const call = await row.call();
      const answer = await sent(row, caller, call);
      const isChanged = row.action !== undefined && expected === 'ok';
      actions.set(requestIdOf(answer), isChanged ? [row.action].flat() : []);
      expect({ status: answer.status, body: answer.body }).toMatchObject({ status: row.status });
      if (row.lists !== undefined) {
        const shows = JSON.stringify(answer.page().data).includes(JSON.stringify(row.lists));
        expect(shows).toBe(expected === 'ok');
      }
      await call.cleanUp?.();
    });

    // Every change has exactly one event, so the events show what was changed.
    it('has audit events for what was allowed, and none for what was refused', async () => {
      const events = (await gateway.admin.get('/v1/audit-events?limit=200')).page().data;
      const found = [...actions.keys()].map((id) => {
        const ofCall = events.filter((event) => event['request_id'] === id);
        return [id, ofCall.map((event) => String(event['action'])).sort()];
      });
      expect(found).toEqual([...actions]);
    });
  });
});

function requestIdOf(answer: Answer): string {
  return answer.headers.get('x-request-id') ?? '';
}
