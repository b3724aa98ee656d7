import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import type { Snapshot } from '@gateway/shared/snapshot/schema';
import { startTestDataPath } from '../../../test/data-path.ts';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { closedPort, startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
/** At least one ejection was counted. */
const EJECTED = /to="ejected",reason="\w+"\} [1-9]/;

/** The snapshot with regions of the upstreams and settings of their checks. */
function withRegions(
  snapshot: Snapshot,
  regions: readonly (string | null)[],
  intervalMs = 60_000,
): Snapshot {
  return {
    ...snapshot,
    version: snapshot.version + 1,
    services: snapshot.services.map((service) => ({
      ...service,
      upstreams: service.upstreams.map((one, index) => ({
        ...one,
        region: regions[index] ?? null,
      })),
      health_check: { ...service.health_check, interval_ms: intervalMs, timeout_ms: 500 },
    })),
  };
}

describe('requests', () => {
  it('eject an upstream that fails five times in a row: it gets no more of them', async () => {
    const failing = opened(
      await startUpstream((_seen, response) => void response.writeHead(503).end()),
    );
    const good = opened(await startUpstream());
    const gateway = opened(
      await startTestDataPath({ upstreams: [failing.url, good.url], retry_count: 1 }),
    );
    for (let count = 0; count < 100; count += 1) await gateway.call('test');
    expect(failing.seen).toHaveLength(5);
    expect(gateway.records.map((record) => record.status)).toEqual(Array(100).fill(200));
    expect(await gateway.registry.metrics()).toContain(
      'gateway_upstream_transitions_total{to="ejected",reason="consecutive_failures"} 1',
    );
    const line = gateway.logLines.find((one) => one.includes('"ejected"')) ?? '';
    expect(JSON.parse(line)).toMatchObject({
      msg: 'upstream health changed',
      upstream: 'ups_0',
      service: 'svc_test',
      to: 'ejected',
      reason: 'consecutive_failures',
    });
    expect(line).not.toContain(failing.url);
  });

  it('do not count against an upstream that responds with 500, or if the caller leaves', async () => {
    let answers = false;
    const upstream = opened(
      await startUpstream((_seen, response) => {
        if (answers) response.writeHead(500).end();
      }),
    );
    const other = opened(await startUpstream());
    const gateway = opened(
      await startTestDataPath({ upstreams: [upstream.url, other.url], retry_count: 0 }),
    );
    const leave = new AbortController();
    const left = Array.from({ length: 12 }, () =>
      gateway.call('test', { signal: leave.signal }).catch(() => undefined),
    );
    await eventually(() => expect(upstream.seen.length + other.seen.length).toBe(12));
    leave.abort();
    await Promise.all(left);
    answers = true;
    for (let count = 0; count < 40; count += 1) await gateway.call('test');
    expect(upstream.seen.length).toBeGreaterThan(10);
    expect(await gateway.registry.metrics()).not.toMatch(EJECTED);
  });

  it('reach the healthy one of two at once if the other accepts no connection, with any method', async () => {
    const away = `http://127.0.0.1:${await closedPort()}`;
    const good = opened(await startUpstream());
    const gateway = opened(
      await startTestDataPath({
        upstreams: [away, good.url],
        retry_count: 1,
        retry: {
          on_statuses: [503],
          per_attempt_timeout_ms: null,
          backoff_ms: 5000,
          unsafe_methods: 'never',
        },
      }),
    );
    // All at once, so that the retry budget alone would not allow all retries.
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => gateway.call('test', { method: 'POST', body: '{}' })),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array(60).fill(200));
    for (const record of gateway.records) expect(record.timing.total_ms).toBeLessThan(4000);
    const moved = gateway.records.filter((record) => record.attempts.length > 1);
    expect(moved.length).toBeGreaterThan(3);
    expect(moved[0]?.attempts).toMatchObject([
      { upstream: 'ups_0', error: 'connect_refused' },
      { upstream: 'ups_1', status: 200 },
    ]);
  });

  it('stay in the region, and go to another one only if it has no healthy upstream', async () => {
    const eu = opened(await startUpstream());
    const us = opened(await startUpstream());
    const anywhere = opened(await startUpstream());
    const urls = [eu.url, us.url, anywhere.url];
    const gateway = opened(
      await startTestDataPath({ upstreams: urls }, { environment: { REGION: 'eu' } }),
    );
    const snapshot = testSnapshot({ upstreams: urls, regions: ['us'] }, gateway.token);
    await gateway.use(withRegions(snapshot, ['eu', 'us', null]));
    for (let count = 0; count < 30; count += 1) await gateway.call('test');
    expect(us.seen).toHaveLength(0);
    expect(eu.seen.length).toBeGreaterThan(0);
    expect(anywhere.seen.length).toBeGreaterThan(0);
    await gateway.use({ ...withRegions(snapshot, ['asia', 'us', 'africa']), version: 3 });
    for (let count = 0; count < 10; count += 1) await gateway.call('test');
    expect(us.seen).toHaveLength(10);
  });

  it('fail over to the next region of the route, with both attempts and their regions in the record', async () => {
    const away = `http://127.0.0.1:${await closedPort()}`;
    const us = opened(await startUpstream());
    const asia = opened(await startUpstream());
    const urls = [away, asia.url, us.url];
    const gateway = opened(
      await startTestDataPath({ upstreams: urls }, { environment: { REGION: 'eu' } }),
    );
    const snapshot = testSnapshot({ upstreams: urls, regions: ['us', 'asia'] }, gateway.token);
    await gateway.use(withRegions(snapshot, ['eu', 'asia', 'us']));
    const record = await gateway.recordOf(await gateway.call('test'));
    expect(record).toMatchObject({
      status: 200,
      retry_count: 1,
      upstream: { region: 'us' },
      attempts: [
        {
          upstream: 'ups_0',
          region: 'eu',
          error: 'connect_refused',
          retry: { retried: true, why: 'nothing_sent' },
        },
        { upstream: 'ups_2', region: 'us', status: 200 },
      ],
    });
  });

  it('are tried on all upstreams if every check fails, rather than refused', async () => {
    // Checks get an invalid response; requests get a valid one.
    const answering = () =>
      startRawUpstream((socket) => {
        socket.on('data', (bytes: Buffer) => {
          const isCheck = bytes.includes('gateway-health-check');
          socket.end(isCheck ? 'no' : 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
        });
      });
    const upstreams = [opened(await answering()), opened(await answering())];
    const urls = upstreams.map(({ url }) => url);
    const gateway = opened(await startTestDataPath({ upstreams: urls }, { healthChecks: true }));
    await gateway.use(withRegions(testSnapshot({ upstreams: urls }, gateway.token), [], 500));
    await eventually(async () =>
      expect(await gateway.registry.metrics()).toContain('gateway_upstreams{health="unhealthy"} 2'),
    );
    for (let count = 0; count < 30; count += 1) {
      expect((await gateway.call('test')).status).toBe(200);
    }
    const used = new Set(gateway.records.map((record) => record.upstream?.id));
    expect(used).toEqual(new Set(['ups_0', 'ups_1']));
  });

  it('go to no upstream that fails its checks while another one is healthy', async () => {
    const failing = opened(
      await startRawUpstream((socket) => {
        socket.on('data', () => socket.end('HTTP/1.1 404 no\r\ncontent-length: 0\r\n\r\n'));
      }),
    );
    const good = opened(await startUpstream());
    const urls = [failing.url, good.url];
    const gateway = opened(await startTestDataPath({ upstreams: urls }, { healthChecks: true }));
    await gateway.use(withRegions(testSnapshot({ upstreams: urls }, gateway.token), [], 500));
    await eventually(async () =>
      expect(await gateway.registry.metrics()).toContain('gateway_upstreams{health="unhealthy"} 1'),
    );
    for (let count = 0; count < 30; count += 1) await gateway.call('test');
    expect(good.seen).toHaveLength(30);
    expect(gateway.records).toHaveLength(30);
    expect(good.checks.length).toBeGreaterThan(0);
  });

  it('go to an ejected upstream if no other one accepts a connection', async () => {
    let fails = true;
    const ended = opened(
      await startUpstream((_seen, response) => void response.writeHead(fails ? 503 : 200).end()),
    );
    const leaving = await startUpstream();
    const urls = [ended.url, leaving.url];
    const gateway = opened(await startTestDataPath({ upstreams: urls }, { healthChecks: true }));
    await gateway.use(withRegions(testSnapshot({ upstreams: urls }, gateway.token), [], 500));
    const metric = async (line: string) =>
      eventually(async () => expect(await gateway.registry.metrics()).toContain(line));
    await metric('gateway_upstreams{health="healthy"} 2');
    while (ended.seen.length < 5) await gateway.call('test');
    await metric('gateway_upstreams{health="ejected"} 1');
    await leaving.close();
    await metric('gateway_upstreams{health="unhealthy"} 1');
    fails = false;
    // All at once: the retry budget alone would refuse most of the retries.
    const calls = Array.from({ length: 40 }, () => gateway.call('test', { method: 'POST' }));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses).toEqual(Array(40).fill(200));
  });
});
