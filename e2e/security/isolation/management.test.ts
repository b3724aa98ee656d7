import { readFileSync } from 'node:fs';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiDocument } from '../../api/contract/document.ts';
import { startGateway, type Gateway } from '../../harness/gateway.ts';
import { describeAllowed, type AllowedWorld } from './allowed.ts';
import { createCallers, ENVIRONMENTS, EVERY_SCOPE } from './callers.ts';
import { Cells } from './cells.ts';
import { MANAGEMENT } from './expectations.ts';
import { managementRows } from './calls/management-rows.ts';
import { describeNames } from './names/names.ts';
import { endpointOf } from './names/places.ts';
import { makeNamesWorld, type NamesWorld } from './names/world.ts';
import { describeGuessedSecrets } from './states/guessed-secrets.ts';
import { describeMidCall } from './states/mid-call.ts';
import { describeOwnToken } from './states/own-token.ts';
import { describeReplays } from './states/replays.ts';
import { createStates } from './states/states.ts';

const startTimeoutMs = 60_000;
const committed = new URL('../../../packages/client/openapi.json', import.meta.url);

/** Each operation with each kind of caller, each way to name something out of reach, and each state of the credential. */
describe('the isolation matrix of the management API', () => {
  const document = new ApiDocument(readFileSync(committed, 'utf8'));
  const cells = new Cells('the management API');
  let gateway: Gateway;
  let allowed: AllowedWorld;
  let names: NamesWorld;

  beforeAll(async () => {
    gateway = await startGateway({
      adminAt: 'control plane',
      env: { AUTH_FAILURE_LIMIT: '100000', MANAGEMENT_RATE_LIMIT: '100000' },
    });
    const service = await gateway.service();
    const route = await gateway.route({ name: 'orders', service_id: service.id });
    const reach = { environments: ['production'], routes: ['orders'], scopes: ['proxy'] };
    const { tokenId } = await gateway.tokenClient(reach);
    await gateway.settled();
    const [dataPlane] = gateway.dataPlanes;
    const request = await gateway.admin.at(dataPlane?.baseUrl ?? '').proxy('orders');
    expect(request.status).toBe(200);
    const requestId = request.headers.get('x-request-id') ?? '';
    await eventually(async () => {
      expect((await gateway.admin.get('/v1/requests?route=orders')).body).toContain(requestId);
    });
    const ids = { serviceId: service.id, routeId: route.id, tokenId, requestId };
    const rows = managementRows({ gateway, ...ids });
    const statesOf = (environments: readonly string[]) =>
      createStates(gateway, { environments, routes: ['*'], scopes: EVERY_SCOPE });
    const [production, all, productionStates, allStates, world] = await Promise.all([
      createCallers(gateway, ENVIRONMENTS.production),
      createCallers(gateway, ENVIRONMENTS.all),
      statesOf(ENVIRONMENTS.production),
      statesOf(ENVIRONMENTS.all),
      makeNamesWorld(gateway),
    ]);
    const states = { production: productionStates, all: allStates };
    const callers = { production, all };
    allowed = { gateway, rows, callers, states, justTokens: new Map() };
    names = world;
  }, startTimeoutMs);
  afterAll(async () => {
    cells.print();
    await gateway.close();
  });

  it('has a row for every endpoint', async () => {
    const running = new ApiDocument((await gateway.admin.get('/v1/openapi.json')).body);
    const endpoints = running.operations.map(endpointOf).sort();
    expect(endpoints).toEqual(document.operations.map(endpointOf).sort());
    expect(endpoints).toEqual(MANAGEMENT.map(([endpoint]) => endpoint).sort());
    expect(endpoints).toEqual(Object.keys(allowed.rows).sort());
  });

  describeAllowed(() => allowed, cells);
  describeNames({ document, world: () => names, rows: () => allowed.rows, cells });
  const [gatewayOf, rowsOf] = [() => gateway, () => allowed.rows] as const;
  describeOwnToken(document, gatewayOf, cells);
  describeReplays(document, gatewayOf, rowsOf, cells);
  describeGuessedSecrets(document, gatewayOf, cells);
  describeMidCall(document, gatewayOf, rowsOf, cells);
});
