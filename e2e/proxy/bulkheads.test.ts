import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startCrowd, type CrowdOptions } from '@gateway/testing/crowd';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../harness/gateway.ts';
import { startLoad } from '../harness/load.ts';

/** A small gateway, which a few hundred callers fill. `npm run bench -- bulkheads` does the same with thousands. */
const LIMITS = {
  MAX_IN_FLIGHT_REQUESTS: '200',
  MAX_PASS_THROUGH_REQUESTS: '20',
  MAX_UNAUTHENTICATED_REQUESTS: '20',
};
const CALLERS = 300;
/** The sound route always has a few requests in flight, however slow the machine is. */
const LOAD = { callers: 5, maxCalls: 300 };
const testTimeoutMs = 60_000;

describe('a sound route', () => {
  const opened = closeAfterEach();
  let gateway: Gateway;
  let sound: string;
  let hungServiceId: string;

  beforeAll(async () => {
    gateway = await startGateway({ dataPlaneStart: () => ({ env: LIMITS }) });
    const hung = await gateway.service({ url: `${gateway.upstream.url}/slow/600000` });
    hungServiceId = hung.id;
    await gateway.route({ name: 'hung', service_id: hung.id, retry_count: 0 });
    await gateway.route({ name: 'slow', upstreamPath: '/slow/300', retry_count: 0 });
    await gateway.route({ name: 'sound' });
    sound = `${gateway.admin.baseUrl}/v1/proxy/sound`;
    await gateway.settled();
  }, testTimeoutMs);
  afterAll(() => gateway.close());

  function crowd(options: Pick<CrowdOptions, 'path' | 'kind' | 'token'>) {
    const port = Number(new URL(gateway.admin.baseUrl).port);
    return opened(startCrowd({ ...options, port, callers: CALLERS, againMs: 200 }, Math.random));
  }

  /** Sends requests to the sound route; returns the statuses that are not 200, and the errors of connections. */
  async function failures(): Promise<readonly unknown[]> {
    const { token } = gateway.admin;
    const load = startLoad({ url: sound, token, ...LOAD, body: (call) => ({ call }) });
    await load.ended;
    expect(load.answers).toHaveLength(LOAD.maxCalls);
    const statuses = load.answers.map(({ status }) => status);
    return [...statuses.filter((status) => status !== 200), ...load.failures];
  }

  const refusedIn = (of: { readonly statuses: ReadonlyMap<number, number> }) =>
    eventually(() => expect(of.statuses.get(503)).toBeGreaterThan(0), { deadlineMs: 10_000 });

  it(
    'fails no request while callers fill a hung and a slow one, and the hung service is degraded',
    async () => {
      const { token } = gateway.admin;
      const hung = crowd({ path: '/v1/proxy/hung', kind: 'calls', token });
      const slow = crowd({ path: '/v1/proxy/slow', kind: 'calls', token });
      await Promise.all([refusedIn(hung), refusedIn(slow)]);
      expect(await failures()).toEqual([]);
      // After ten seconds the requests time out. One of them may have left its slot to this request.
      await eventually(async () => {
        const refused = await gateway.admin.proxy('hung', { method: 'GET' });
        expect(refused.status).toBe(503);
      });
      await eventually(
        async () => {
          const service = await gateway.admin.get(`/v1/services/${hungServiceId}`);
          expect(service.resource()['status']).toBe('degraded');
        },
        { deadlineMs: 10_000 },
      );
    },
    testTimeoutMs,
  );

  it.each(['no token', 'a token without a management scope'])(
    'fails no request while callers with %s send slow bodies to the management API',
    async (kind) => {
      const bare =
        kind === 'no token' ? undefined : await gateway.tokenClient({ scopes: ['proxy'] });
      await gateway.settled();
      const slow = crowd({ path: '/v1/x', kind: 'slow-bodies', token: bare?.token });
      await refusedIn(slow);
      expect(await failures()).toEqual([]);
      // Operators can still work.
      expect((await gateway.admin.get('/v1/services')).status).toBe(200);
    },
    testTimeoutMs,
  );
});
