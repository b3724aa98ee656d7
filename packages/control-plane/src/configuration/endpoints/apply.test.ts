import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  counts,
  DOCUMENT,
  newAppliedEnvironment,
  summaryOf,
} from '../../../test/applied-environment.ts';
import { expectError } from '../../../test/expect-error.ts';
import { startTestApi, type Answer, type TestApi } from '../../../test/api.ts';
import { untilEnded } from '../../../test/until-ended.ts';

let api: TestApi;
beforeAll(async () => void (api = await startTestApi()));
afterAll(() => api.close());

describe('POST /v1/environments/{name}/apply', () => {
  it('creates what a document declares, and the same document again changes nothing', async () => {
    const { name, apply, changes } = await newAppliedEnvironment(api);
    const first = await apply(DOCUMENT);
    expect(first.status).toBe(200);
    expect(summaryOf(first)).toEqual({ services: counts(2), routes: counts(2), changed: true });
    expect(await changes()).toEqual([
      'service.created',
      'service.created',
      'route.created',
      'route.created',
    ]);
    const routes = await api.call('GET', `/v1/routes?environment=${name}`);
    const byName = routes.json.data?.toSorted((a, b) =>
      String(a['name']) < String(b['name']) ? -1 : 1,
    );
    expect(byName).toMatchObject([
      { name: 'charges', timeout_ms: 5000, retry_count: 2 },
      { name: 'refunds', service_id: null },
    ]);
    // As an older replica stores them.
    await sql`UPDATE routes SET idempotency = idempotency - 'mode' - 'repeatable_statuses'
      WHERE environment = ${name}`.execute(api.db);
    await sql`UPDATE services SET limits = limits - 'adaptive' WHERE environment = ${name}`.execute(
      api.db,
    );
    const older = await api.call('GET', `/v1/routes?environment=${name}`);
    expect(older.json.data).toEqual(routes.json.data);
    const again = await apply(DOCUMENT);
    expect(summaryOf(again)).toEqual({
      services: counts(0, 0, 0, 2),
      routes: counts(0, 0, 0, 2),
      changed: false,
    });
    expect(again.json.data?.['changes']).toEqual([]);
    expect(await changes()).toHaveLength(4);
  });

  it('is one version of the configuration, with an audit event for each change', async () => {
    const { name, apply } = await newAppliedEnvironment(api);
    await api.publish(name);
    const answer = await apply(DOCUMENT);
    const version = await api.publish(name);
    const versions = await api.call('GET', `/v1/environments/${name}/versions`);
    expect(versions.json.data?.[0]).toMatchObject({ version, changes: 4 });
    const id = answer.headers.get('x-request-id') ?? '';
    const events = await api.call('GET', `/v1/audit-events?request_id=${id}`);
    expect(events.json.data).toHaveLength(4);
  });

  it('shows the old and the new value of each field that changes', async () => {
    const { apply } = await newAppliedEnvironment(api);
    await apply(DOCUMENT);
    const changed = await apply({
      services: [{ name: 'pay', url: 'http://new.example', limits: { max_in_flight: 7 } }],
      routes: [{ name: 'charges', service: 'pay-2', rate_limit: { limit: 10 } }],
    });
    expect(summaryOf(changed)).toEqual({
      services: counts(0, 1),
      routes: counts(0, 1),
      changed: true,
    });
    const all = changed.json.data?.['changes'] as { fields: object[] }[];
    expect(all).toMatchObject([
      { resource_type: 'service', name: 'pay', action: 'updated', before: null, after: null },
      { resource_type: 'route', name: 'charges', action: 'updated' },
    ]);
    expect(all[0]?.fields).toEqual([
      { path: '/url', before: 'http://pay.example', after: 'http://new.example' },
      { path: '/limits/max_in_flight', before: null, after: 7 },
    ]);
    expect(all[1]?.fields).toEqual([
      { path: '/service', before: 'pay', after: 'pay-2' },
      { path: '/timeout_ms', before: 5000, after: 10_000 },
      { path: '/rate_limit/limit', before: 60_000, after: 10 },
    ]);
  });

  it('leaves out what a document does not declare, and deletes it with prune', async () => {
    const { apply, dump } = await newAppliedEnvironment(api);
    await apply(DOCUMENT);
    const part = { services: DOCUMENT.services.slice(0, 1), routes: DOCUMENT.routes.slice(0, 1) };
    expect(summaryOf(await apply(part))).toMatchObject({ changed: false });
    expect((await dump())['services']).toHaveLength(2);
    const pruned = await apply({ ...part, prune: true });
    expect(summaryOf(pruned)).toEqual({
      services: counts(0, 0, 1, 1),
      routes: counts(0, 0, 1, 1),
      changed: true,
    });
    expect(pruned.json.data?.['changes']).toMatchObject([
      { name: 'pay-2', action: 'deleted', before: { name: 'pay-2' }, after: null },
      { name: 'refunds', action: 'deleted' },
    ]);
    const routesOnly = await apply({ routes: [], prune: true });
    expect(summaryOf(routesOnly)).toMatchObject({ services: counts(), routes: counts(0, 0, 1) });
    expect((await dump())['services']).toHaveLength(1);
  });

  it('does not prune a service that a remaining route uses', async () => {
    const { apply, changes } = await newAppliedEnvironment(api);
    await apply(DOCUMENT);
    const before = await changes();
    const refused = await apply({ services: [DOCUMENT.services[0]], prune: true });
    expectError(refused, 409, 'service_in_use');
    expect(refused.json.error?.['message']).toContain('pay-2 (by the route refunds)');
    expect(await changes()).toEqual(before);
  });

  it('names no route that the token does not cover, if one uses a service that would be pruned', async () => {
    const { apply, name: environment } = await newAppliedEnvironment(api);
    await apply(DOCUMENT);
    const token = await api.makeToken({
      name: `pruner of ${environment}`,
      environments: [environment],
      routes: ['charges'],
      scopes: ['services:write', 'routes:write'],
    });
    const document = { services: [DOCUMENT.services[0]], prune: true };
    const refused = await apply(document, token);
    expectError(refused, 409, 'service_in_use');
    expect(refused.text).not.toContain('refunds');
    expect(refused.json.error?.['message']).toContain(
      'pay-2 (by a route that the token does not cover)',
    );
  });

  it('shows the difference of a dry run, and changes nothing', async () => {
    const { apply, changes, dump } = await newAppliedEnvironment(api);
    const dry = await apply({ ...DOCUMENT, dry_run: true });
    expect(dry.json.data).toMatchObject({ dry_run: true, changed: true, services: counts(2) });
    expect(dry.json.data?.['changes']).toMatchObject([
      { name: 'pay', action: 'created', resource_id: null, after: { url: 'http://pay.example' } },
      { name: 'pay-2' },
      { name: 'charges', after: { service: 'pay', timeout_ms: 5000, retry_count: 2 } },
      { name: 'refunds' },
    ]);
    expect(await changes()).toEqual([]);
    expect(await dump()).toMatchObject({ services: [], routes: [] });
    const real = await apply(DOCUMENT);
    const strip = (answer: Answer) =>
      (answer.json.data?.['changes'] as object[] | undefined)?.map((one) => ({
        ...one,
        resource_id: null,
      }));
    expect(strip(real)).toEqual(strip(dry));
  });

  it('applies the same document once if it is sent many times at once', async () => {
    const { apply, changes } = await newAppliedEnvironment(api);
    const calls = Promise.all(Array.from({ length: 6 }, () => apply(DOCUMENT)));
    const answers = await untilEnded(api, calls);
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(answers.filter(({ json }) => json.data?.['changed'] === true)).toHaveLength(1);
    expect(await changes()).toHaveLength(4);
  });

  it('runs once with an idempotency key', async () => {
    const { path, changes } = await newAppliedEnvironment(api);
    const send = () =>
      api.call('POST', `${path}/apply`, { body: DOCUMENT, headers: { 'idempotency-key': 'once' } });
    const [first, again] = [await send(), await send()];
    expect(again.json.data).toEqual(first.json.data);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await changes()).toHaveLength(4);
  });
});
