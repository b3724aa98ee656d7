import { describe, expect, it } from '@jest/globals';
import { systemClock, type Clock } from '@gateway/shared/clock';
import type { SnapshotRoute, SnapshotService } from '@gateway/shared/snapshot/schema';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { DEFAULT_LIMITS, testSnapshot } from '@gateway/shared/test/snapshot';
import { startUpstream } from '@gateway/shared/test/upstream';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath, type TestDataPathOptions } from '../../test/data-path.ts';
import type { NameResolver } from './dns/guarded-lookup.ts';

const opened = closeAfterEach();
/** More than would eject either of two upstreams. */
const REQUESTS = 20;
/** At least one upstream was ejected, or failed its checks. */
const BLAMED = /to="(?:ejected|unhealthy)",reason="\w+"\} [1-9]/;
/** How long an upstream takes to answer that is slower than one route waits. */
const SLOW_MS = 1000;
const CHUNKED = 'Transfer-Encoding: chunked';
type Answer = NonNullable<Parameters<typeof startUpstream>[0]>;

/** A gateway whose route `test` has two upstreams, of which one may be ejected. */
async function setUp(given: {
  readonly answer?: Answer;
  readonly route?: Partial<SnapshotRoute>;
  readonly limits?: Partial<SnapshotService['limits']>;
  /** The name of the upstreams; their address unless given. */
  readonly host?: string;
  readonly options?: TestDataPathOptions;
}) {
  const upstreams = [
    opened(await startUpstream(given.answer)),
    opened(await startUpstream(given.answer)),
  ];
  const urls = upstreams.map(({ port }) => `http://${given.host ?? '127.0.0.1'}:${port}`);
  const token = createTokenSecret();
  const route = { upstreams: urls, retry_count: 0, timeout_ms: 60_000, ...given.route };
  const snapshot = testSnapshot(route, token);
  const [service] = snapshot.services;
  if (service === undefined) throw new Error('no service');
  const limits = { ...DEFAULT_LIMITS, ...given.limits };
  const gateway = opened(
    await startTestDataPath(
      { upstreams: urls },
      { ...given.options, snapshots: [{ ...snapshot, services: [{ ...service, limits }] }] },
    ),
  );
  const call = (init: RequestInit = {}) =>
    fetch(`${gateway.url}/v1/proxy/test`, {
      ...init,
      headers: { authorization: `Bearer ${token}` },
    });
  const all = (init?: RequestInit) =>
    Promise.all(Array.from({ length: REQUESTS }, () => call(init)));
  /** What becomes of requests that fail alike: the record of one, if no upstream was blamed. */
  const nobodyBlamed = async () => {
    await eventually(() => expect(gateway.records.length).toBeGreaterThanOrEqual(REQUESTS));
    expect(await gateway.registry.metrics()).not.toMatch(BLAMED);
    const record = gateway.records.at(-1);
    return {
      status: record?.status,
      outcome: record?.outcome,
      code: record?.error_code,
      attempt: record?.attempts[0]?.error,
    };
  };
  return { gateway, token, call, all, nobodyBlamed, upstreams };
}

const failing =
  (code: string): NameResolver =>
  (_name, _options, callback) =>
    void setImmediate(() => callback(Object.assign(new Error(code), { code }), []));

describe('an upstream is not ejected', () => {
  it('if requests wait for its connections, which long responses hold, until their time is up', async () => {
    const held: (() => void)[] = [];
    const { gateway, call, all, nobodyBlamed } = await setUp({
      answer(_seen, response) {
        response.write('first');
        held.push(() => response.end());
      },
      route: { timeout_ms: 300 },
      limits: { max_connections: 1 },
    });
    const streams = [await call(), await call()];
    const answers = await all();
    const [refused] = answers;
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    expect(refused?.headers.get('retry-after')).toBe('1');
    const { message } = await expectRefusal(refused as Response, 503, 'upstream_overloaded');
    expect(message).toBe(
      'The service test is overloaded: its limit max_connections of 1 is reached.',
    );
    expect(await nobodyBlamed()).toEqual({
      status: 503,
      outcome: 'rejected',
      code: 'upstream_overloaded',
      attempt: 'max_connections',
    });
    expect(
      await gateway.registry.getSingleMetricAsString('gateway_upstream_overloaded_total'),
    ).toContain(`{service_id="svc_test",reason="max_connections"} ${REQUESTS}`);
    for (const end of held) end();
    for (const stream of streams) expect(await stream.text()).toBe('first');
  });

  it('if the timeout of a route is shorter than its upstream could ever answer', async () => {
    const { gateway, all, nobodyBlamed } = await setUp({
      answer: (_seen, response) => void setTimeout(() => response.end(), SLOW_MS),
      route: { timeout_ms: SLOW_MS / 10 },
    });
    await all();
    await nobodyBlamed();
    const attempts = gateway.records.flatMap((record) => record.attempts);
    const timeouts = attempts.filter(({ error }) => error === 'attempt_timeout');
    expect(timeouts.length).toBeGreaterThanOrEqual(REQUESTS / 2);
  });

  it('if callers send too little of their bodies for longer than the timeout', async () => {
    const manual = manualClock();
    // The short timers are those of the drain at the end.
    const setTimer: Clock['setTimer'] = (delayMs, callback) =>
      (delayMs < 10_000 ? systemClock : manual).setTimer(delayMs, callback);
    const { gateway, token, upstreams, nobodyBlamed } = await setUp({
      answer: () => undefined,
      options: { clock: { ...manual, setTimer } },
      route: { timeout_ms: 20_000 },
    });
    const lines = ['Host: gateway.test', `Authorization: Bearer ${token}`, CHUNKED];
    const callers = await Promise.all(
      Array.from({ length: REQUESTS }, () => rawConnection(gateway.port)),
    );
    for (const caller of callers) {
      opened(caller).send(requestText({ method: 'PUT', lines, body: '2\r\nab\r\n' }));
    }
    // From then on the gateway waits for the callers alone.
    await eventually(() => expect(upstreams.flatMap(({ begun }) => begun)).toHaveLength(REQUESTS));
    manual.advance(30_000);
    for (const caller of callers) expect((await caller.response()).status).toBe(408);
    expect(await nobodyBlamed()).toMatchObject({ code: 'request_timeout' });
  });

  it.each([
    ['ESERVFAIL', 502, 'upstream_unavailable', 'dns_failed'],
    ['ETIMEOUT', 502, 'upstream_unavailable', 'dns_failed'],
    // Of the resolver, not of the upstream.
    ['ECONNREFUSED', 502, 'upstream_unavailable', 'dns_failed'],
    ['EMFILE', 503, 'gateway_overloaded', 'system_resources'],
    ['EADDRNOTAVAIL', 503, 'gateway_overloaded', 'system_resources'],
  ])('if a connection fails with %s here', async (code, status, error, attempt) => {
    const { all, nobodyBlamed } = await setUp({
      host: 'upstream.test',
      options: { resolve: failing(code) },
    });
    await all();
    expect(await nobodyBlamed()).toMatchObject({ status, code: error, attempt });
  });

  it('if this data plane refuses its address', async () => {
    const { all, nobodyBlamed } = await setUp({ options: { denyCidrs: ['127.0.0.0/8'] } });
    await all();
    expect(await nobodyBlamed()).toMatchObject({ status: 502, attempt: 'address_refused' });
  });

  it.each([
    ['of more bytes', { large: 'x'.repeat(70_000) }],
    ['of more lines', { many: Array.from({ length: 1500 }, () => 'x') }],
  ])('if its responses have a head %s than this data plane takes', async (_what, fields) => {
    const { all, nobodyBlamed } = await setUp({
      answer: (_seen, response) => void response.writeHead(200, fields).end(),
    });
    const [answer] = await all();
    const { message } = await expectRefusal(answer as Response, 502, 'upstream_unavailable');
    expect(message).toBe(
      'The upstream of the route test sent a response head above the 65536 bytes or 1000 lines that the gateway accepts.',
    );
    expect(await nobodyBlamed()).toMatchObject({
      status: 502,
      attempt: 'response_head_too_large',
    });
  });

  it.each([
    ['breaks off its body', 'ab', (caller: { destroy(): void }) => caller.destroy()],
    ['sends a malformed body', 'zz\r\n', () => undefined],
  ])('if its caller %s', async (_what, body, then) => {
    const { gateway, token, nobodyBlamed } = await setUp({
      answer: () => undefined,
    });
    const framing = body === 'ab' ? 'Content-Length: 400000' : CHUNKED;
    const lines = ['Host: gateway.test', `Authorization: Bearer ${token}`, framing];
    for (let count = 0; count < REQUESTS; count += 1) {
      const caller = opened(await rawConnection(gateway.port));
      caller.send(requestText({ method: 'PUT', lines, body }));
      await eventually(() => then(caller));
      await eventually(() => expect(gateway.records.length).toBeGreaterThan(count));
    }
    const expected = body === 'ab' ? 'client_aborted' : 'rejected';
    expect(await nobodyBlamed()).toMatchObject({ outcome: expected });
  });
});

describe('a caller that does not read its response', () => {
  it('is recorded as one, and not as an error of the upstream', async () => {
    const { gateway, token } = await setUp({
      answer: (_seen, response) => void response.end(Buffer.alloc(64 * 1024 * 1024, 'x')),
      options: { environment: { BODY_IDLE_TIMEOUT_MS: '300' } },
    });
    const caller = opened(await rawConnection(gateway.port));
    caller.socket.pause();
    const lines = ['Host: gateway.test', `Authorization: Bearer ${token}`];
    caller.send(requestText({ method: 'GET', lines }));
    await eventually(() => expect(gateway.records).toHaveLength(1));
    expect(gateway.records[0]).toMatchObject({
      status: 200,
      outcome: 'rejected',
      error_code: 'response_timeout',
    });
  });
});
