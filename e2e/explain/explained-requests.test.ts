import type { Explanation } from '@gateway/shared/explain/explanation';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Resource } from '../harness/client.ts';
import { explain, sampled, startExplainWorld, type ExplainWorld } from './explain-world.ts';
import {
  requests,
  routes,
  type GeneratedRequest,
  type GeneratedRoute,
} from './generated-requests.ts';
import { rawCall, type RawAnswer } from './raw-call.ts';

const SEED = Number(process.env['EXPLAIN_SEED'] ?? Date.now() % 1_000_000);
const REQUESTS = Number(process.env['EXPLAIN_REQUESTS'] ?? 60);
const ROUTES = 24;
/** The longest that a call takes, even on a busy machine. */
const CALL_MS = 2000;
const startTimeoutMs = 120_000;
const runTimeoutMs = 300_000;

/** Set by the connection of the test, whatever the gateway sends. */
const OF_THE_CONNECTION = new Set(['connection']);

interface Attempt {
  readonly upstream: string;
}

describe('what explain says of a random request on a random route', () => {
  let world: ExplainWorld;
  const decisions = new Map<string, number>();

  beforeAll(async () => {
    world = await startExplainWorld(sampled(routes, ROUTES, SEED));
  }, startTimeoutMs);
  afterAll(() => world.close());

  const lastSeen = () =>
    world.upstreams.flatMap(({ seen }) => seen).find((seen) => !known.has(seen));
  const known = new WeakSet<object>();

  async function recordOf(answer: RawAnswer): Promise<Resource> {
    const id = String(answer.headers['x-request-id']);
    return (await world.gateway.admin.get(`/v1/requests/${id}`)).resource();
  }

  /** Half of the requests by host and path aim at a way of their route. */
  function placeOf({ match }: GeneratedRoute, { host, path, way }: GeneratedRequest) {
    const aimed = match[way % (2 * match.length)];
    if (host === undefined || aimed === undefined) return { host, path };
    const [first = {}] = aimed.paths as readonly { exact?: string; prefix?: string }[];
    const [own = host] = aimed.hosts;
    return { host: own.replace('*', 'c'), path: first.exact ?? first.prefix ?? path };
  }

  /** Explains the request, then sends it. Both happen in one minute, because failures are counted by the minute. */
  async function both(request: GeneratedRequest): Promise<[Explanation, RawAnswer]> {
    const route = world.routes[request.route];
    if (route === undefined) throw new Error('no route');
    const { asked, both: shared = {}, sent = {} } = await world.credentialOf(request);
    const { method, query, body } = request;
    const { host, path } = placeOf(route, request);
    const headers = { 'x-gateway-environment': 'production', ...request.headers, ...shared };
    const place = host === undefined ? { path } : { host, path };
    for (;;) {
      const minute = Math.floor(Date.now() / 60_000);
      for (const upstream of world.upstreams) for (const one of upstream.seen) known.add(one);
      const question = { method, ...place, query, headers, body, client_ip: '127.0.0.1', ...asked };
      // The outcome of a key is stored just after its response.
      const said = await eventually(async () => {
        const explained = await explain(world.gateway, route.id, question);
        if (explained.outcome.decision === 'wait') throw new Error('the key is still in flight');
        return explained;
      });
      if (Math.floor((Date.now() + CALL_MS) / 60_000) !== minute) continue;
      const named = host === undefined ? `/v1/proxy/${route.name}` : '';
      const target = `${named}${path}${query}`;
      const baseUrl = world.gateway.dataPlanes[0]?.baseUrl ?? '';
      const answer = await rawCall(baseUrl, {
        method,
        target,
        headers: { ...headers, ...sent, ...(host === undefined ? {} : { host }) },
        body,
      });
      return [said, answer];
    }
  }

  function expectRefusal(said: Explanation, answer: RawAnswer, request: GeneratedRequest): void {
    const { status, code, reason, retry_after_seconds: retryAfter } = said.outcome;
    expect([answer.status, answer.headers['x-gateway-error']]).toEqual([status, code]);
    const given = answer.headers['retry-after'];
    if (retryAfter === null) expect(given).toBeUndefined();
    else expect(Math.abs(Number(given) - retryAfter)).toBeLessThanOrEqual(1);
    if (request.method === 'HEAD') return;
    const { error } = JSON.parse(answer.body) as { error: { message: string } };
    expect(error.message).toBe(reason);
  }

  /** Another route gets the request, or the control plane does. */
  async function expectElsewhere(said: Explanation, answer: RawAnswer): Promise<void> {
    const { route = null } = said.reached_by ?? {};
    const id = String(answer.headers['x-request-id']);
    if (route === null) {
      expect((await world.gateway.admin.get(`/v1/requests/${id}`)).status).toBe(404);
    } else expect((await recordOf(answer))['route']).toBe(route);
  }

  const notCopied = new Set<string>();
  const copies = () => world.mirror.seen.map(({ headers }) => headers['x-gateway-mirror']);

  /** Its mirror gets a copy if explain says so. That it got no other is compared at the end. */
  async function expectCopy({ mirror }: Explanation, id: string): Promise<void> {
    if (mirror?.copied === true) await eventually(() => expect(copies()).toContain(id));
    else notCopied.add(id);
  }

  async function expectForward(said: Explanation, answer: RawAnswer): Promise<void> {
    const record = await recordOf(answer);
    const first = (record['attempts'] as Attempt[])[0]?.upstream;
    const picked = said.upstreams?.filter((one) => one.picked_first).map(({ id }) => id);
    expect(picked).toContain(first);
    await expectCopy(said, String(answer.headers['x-request-id']));
    const seen = lastSeen();
    if (seen === undefined) {
      expect(answer.headers['x-gateway-error']).toBe('upstream_unavailable');
      return;
    }
    const names = Object.keys(seen.headers).filter((name) => !OF_THE_CONNECTION.has(name));
    expect(said.request_headers).toEqual(names.sort());
    expect(said.locations === null).toBe(seen.headers['x-forwarded-port'] === undefined);
    expect(said.locations?.caller_prefix ?? '').toBe(seen.headers['x-forwarded-prefix'] ?? '');
    if (said.rewrite === null) return;
    const { path, host, query } = said.rewrite;
    const [sentPath, sentQuery] = seen.url.split('?');
    expect(sentPath).toBe(path);
    // A question without a host has this one.
    if (host !== null && host !== 'gateway') expect(seen.headers.host).toBe(host);
    const parameters = new URLSearchParams(sentQuery);
    for (const name of query.remove) expect(parameters.has(name)).toBe(false);
  }

  it('is the refusal of a credential that authenticates a connection', async () => {
    const { id: serviceId } = await world.gateway.service({ url: world.upstreams[0]?.url });
    const name = 'connection-auth';
    const route = { name, service_id: serviceId, auth: { type: 'none' } };
    const { id } = await world.gateway.admin.create('/v1/routes', route);
    await world.gateway.settled();
    const headers = { authorization: 'Negotiate YIIB' };
    const said = await explain(world.gateway, id, { method: 'GET', path: '', headers });
    expect(said.outcome).toMatchObject({
      decision: 'refuse',
      stage: 'require_credential',
      status: 400,
      code: 'invalid_request',
    });
    const baseUrl = world.gateway.dataPlanes[0]?.baseUrl ?? '';
    const target = `/v1/proxy/${name}`;
    const answer = await rawCall(baseUrl, { method: 'GET', target, headers, body: null });
    expect(answer.status).toBe(400);
    const { error } = JSON.parse(answer.body) as { error: { message: string } };
    expect(error.message).toBe(said.outcome.reason);
  });

  it('by host and path names the way that takes it, or why another route gets it', async () => {
    const { id: serviceId } = await world.gateway.service({ url: world.upstreams[0]?.url });
    const route = async (name: string, ...match: object[]) => {
      const body = { name, service_id: serviceId, auth: { type: 'none' }, match };
      return (await world.gateway.admin.create('/v1/routes', body)).id;
    };
    const hosts = ['way.reached.test'];
    const wide = await route('way-wide', { hosts: ['*.reached.test'] }, { hosts });
    await route('way-path', { hosts, paths: [{ prefix: '/p' }] });
    await route('way-header', { hosts, headers: [{ name: 'X-A', value: '1' }] });
    const named = [{ name: 'X-B', value: '1' }];
    const last = await route('way-name', { hosts, paths: [{ prefix: '/p' }], headers: named });
    await world.gateway.settled();
    const reached = async (id: string, host: string, path: string, headers: object = {}) => {
      const { outcome, reached_by } = await explain(world.gateway, id, { host, path, headers });
      return [outcome.decision, reached_by?.route, reached_by?.reason];
    };
    const host = 'way.reached.test';
    const taken = 'The request takes this way, the most specific one that takes it.';
    const other = 'A way of this route takes the request, but another route gets it: ';
    expect(await reached(wide, host, '/x')).toEqual(['forward', 'way-wide', taken]);
    expect(await reached(wide, 'b.reached.test', '/p')).toEqual(['forward', 'way-wide', taken]);
    expect(await reached(wide, host, '/p/x')).toEqual([
      'elsewhere',
      'way-path',
      `${other}the path of its way is more specific.`,
    ]);
    expect(await reached(wide, host, '/x', { 'x-a': '1' })).toEqual([
      'elsewhere',
      'way-header',
      `${other}its way has more headers.`,
    ]);
    expect(await reached(last, host, '/p')).toEqual([
      'elsewhere',
      'way-path',
      'No way of this route takes the request; one of another route does.',
    ]);
    expect((await reached(last, host, '/x')).slice(0, 2)).toEqual(['elsewhere', 'way-wide']);
    expect(await reached(wide, 'reached.test', '/x')).toEqual([
      'elsewhere',
      null,
      'No way to a route takes the request: it goes on to the control plane.',
    ]);
    const { reached_by } = await explain(world.gateway, wide, { host, path: '/x' });
    expect(reached_by?.way).toEqual({ hosts, paths: [{ prefix: '/' }], headers: [] });
  });

  it('with one path for all requests says that only addresses in cookies are mapped', async () => {
    const { gateway, upstreams } = world;
    const { id: serviceId } = await gateway.service({ url: `${upstreams[0]?.url}/base` });
    const rewrite = { path: '/one/{path.rest}' };
    const auth = { type: 'none' };
    const body = { name: 'one-path', service_id: serviceId, auth, rewrite };
    const { id } = await gateway.admin.create('/v1/routes', body);
    await gateway.settled();
    const said = await explain(gateway, id, { method: 'GET', path: '/a' });
    expect(said.outcome).toMatchObject({ decision: 'forward' });
    expect(said.locations).toEqual({
      caller_prefix: '/v1/proxy/one-path',
      service_paths: ['/base/one/a'],
      only_cookies: true,
    });
  });

  it('by affinity names the upstream that gets it, and why, but no id', async () => {
    const { gateway } = world;
    const upstreams = world.upstreams.map(({ url }) => ({ url }));
    const { id: serviceId } = await gateway.service({ url: undefined, upstreams });
    const affinity = { by: 'header', header: 'X-Tenant' };
    const body = { name: 'tenants', service_id: serviceId, auth: { type: 'none' }, affinity };
    const { id } = await gateway.admin.create('/v1/routes', body);
    await gateway.settled();
    const asked = { method: 'GET', headers: { 'X-Tenant': 'tenant-value' } };
    const said = await explain(gateway, id, asked);
    expect(JSON.stringify(said)).not.toContain('tenant-value');
    const [first, ...others] = said.upstreams ?? [];
    expect(first?.picked_first).toBe(true);
    expect(first?.reason).toMatch(/Picked first: .* affinity leads the request to this one\.$/);
    expect(others.map((one) => [one.picked_first, one.reason])).toEqual(
      Array(2).fill([false, expect.stringMatching(/affinity leads the request to another one\.$/)]),
    );
    const reason = said.stages.find(({ name }) => name === 'pick_version')?.reason;
    expect(reason).toContain('The requests with this value of x-tenant go to the same upstream.');
    const baseUrl = gateway.dataPlanes[0]?.baseUrl ?? '';
    for (let count = 0; count < 4; count += 1) {
      const target = '/v1/proxy/tenants';
      const answer = await rawCall(baseUrl, { ...asked, target, body: null });
      const record = await recordOf(answer);
      expect((record['attempts'] as Attempt[])[0]?.upstream).toBe(first?.id);
      expect(record['policies']).toEqual(['affinity']);
    }
    const without = await explain(gateway, id, { method: 'GET' });
    expect(without.upstreams?.every((one) => one.picked_first)).toBe(true);
  });

  it(
    'is what happens to it: decision, status, message, version, quota, key, upstream, headers',
    async () => {
      let compared = 0;
      await fc.assert(
        fc.asyncProperty(requests(ROUTES), async (request) => {
          const [said, answer] = await both(request);
          const { decision, stage, status } = said.outcome;
          compared += 1;
          const key = `${stage} ${decision} ${status ?? ''}`.trim();
          decisions.set(key, (decisions.get(key) ?? 0) + 1);
          if (decision === 'elsewhere') {
            await expectElsewhere(said, answer);
            return;
          }
          if (said.cors !== null) {
            const allowed = answer.headers['access-control-allow-origin'] !== undefined;
            expect(allowed).toBe(said.cors.origin_allowed);
          }
          if (decision === 'refuse') expectRefusal(said, answer, request);
          else if (decision === 'answer') {
            expect(answer.status).toBe(status);
            const replayed = answer.headers['idempotent-replayed'];
            expect(replayed === 'true').toBe(stage === 'idempotency');
          } else await expectForward(said, answer);
          const record = await recordOf(answer);
          const name = world.routes[request.route]?.name;
          if (request.host !== undefined && said.route_id !== null) {
            expect(said.reached_by?.route).toBe(name);
            // A preflight may be for several routes: its record names one of them.
            if (record['kind'] !== 'preflight') expect(record['route']).toBe(name);
          }
          expect(record['route_version']).toBe(said.version?.name ?? null);
          if (said.version !== null) expect(record['service_id']).toBe(said.version.service_id);
          expect(record['config_version']).toBe(said.config_version);
          if (said.quota !== null) {
            const { limit, remaining } = said.quota;
            const shown = [
              answer.headers['x-ratelimit-limit'],
              answer.headers['x-ratelimit-remaining'],
            ];
            expect(shown).toEqual([String(limit), String(remaining)]);
          }
        }),
        { numRuns: REQUESTS, seed: SEED, endOnFailure: true },
      );
      expect(copies().length).toBeGreaterThan(0);
      expect(copies().filter((id) => notCopied.has(String(id)))).toEqual([]);
      const counts = [...decisions].sort(([, a], [, b]) => b - a);
      const lines = counts.map(([name, count]) => `  ${count} × ${name}`).join('\n');
      process.stdout.write(
        `explain compared with ${compared} requests on ${ROUTES} routes (EXPLAIN_SEED=${SEED}):\n${lines}\n`,
      );
      expect(counts.length).toBeGreaterThan(8);
    },
    runTimeoutMs,
  );
});
