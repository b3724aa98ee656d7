import { randomUUID } from 'node:crypto';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '../../harness/client.ts';
import { startGateway, type Gateway } from '../../harness/gateway.ts';
import { burst } from '../../harness/burst.ts';
import { callOnce } from './call-once.ts';
import { childrenOf, isRunning, metricOf } from './group.ts';
import { complete, loadGroup, restartMs, startGroup, type Group } from './start-group.ts';

const testTimeoutMs = 60_000;

describe('a data plane with two workers', () => {
  let gateway: Gateway;
  let group: Group;
  let client: Client;
  beforeAll(async () => {
    gateway = await startGateway({ dataPlanes: 0 });
    await gateway.route({ name: 'orders' });
    await gateway.route({ name: 'slow', upstreamPath: '/slow/100' });
    await gateway.route({ name: 'long', upstreamPath: '/slow/1500' });
    await gateway.route({ name: 'few', rate_limit: { limit: 100, window_seconds: 86_400 } });
    // A caller that is stopped on a busy machine must still find its connection open.
    group = await startGroup(gateway, { name: 'group', env: { DRAIN_GRACE_MS: '2000' } });
    client = gateway.admin.at(group.baseUrl);
  }, testTimeoutMs);
  afterAll(() => gateway.close());

  /** The data planes that answered calls on new connections. */
  async function answeredBy(caller: Client): Promise<readonly unknown[]> {
    const headers = { connection: 'close' };
    const calls = Array.from({ length: 20 }, () => caller.proxy('orders', { headers }));
    const answers = await Promise.all(calls);
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const records = await Promise.all(
      answers.map((answer) => caller.get(`/v1/requests/${answer.headers.get('x-request-id')}`)),
    );
    return records.map((record) => record.resource()['data_plane']);
  }

  const serving = (started: Group) =>
    metricOf(started.adminUrl, 'gateway_workers', 'primary', 'state="serving"');
  it('assigns connections to both workers, each with its own data plane id', async () => {
    expect(new Set(await answeredBy(client))).toEqual(new Set(['group.1', 'group.2']));
  });

  it('enforces a quota, and runs a request with a key once, over both workers', async () => {
    const answers = await burst(client, 'few', 300);
    const accepted = answers.filter(({ status }) => status === 200).length;
    expect(accepted).toBeLessThanOrEqual(100);
    expect(accepted).toBeGreaterThanOrEqual(98);

    const before = gateway.upstream.seen.length;
    const headers = { 'idempotency-key': randomUUID(), connection: 'close' };
    const twins = Array.from({ length: 10 }, () => client.proxy('slow', { headers }));
    const bodies = (await Promise.all(twins)).map(({ status, body }) => `${status} ${body}`);
    expect(new Set(bodies).size).toBe(1);
    expect(gateway.upstream.seen.length - before).toBe(1);
  });

  it('drains and replaces a worker that gets SIGTERM, without a failed call', async () => {
    let over = false;
    const calls = loadGroup(group, client.token, 'slow', () => over);
    await eventually(() => expect(calls.inFlight).toBe(8));
    const [first = 0] = childrenOf(group.pid);
    process.kill(first, 'SIGTERM');
    await eventually(() => expect(isRunning(first)).toBe(false), { deadlineMs: restartMs });
    await eventually(async () => expect(await serving(group)).toBe(2), { deadlineMs: restartMs });
    expect(childrenOf(group.pid)).not.toContain(first);
    over = true;
    await calls.ended;
    expect(calls.failures).toEqual([]);
    expect(new Set(calls.answers.map(({ status }) => status))).toEqual(new Set([200]));
    const restarts = 'gateway_worker_restarts_total';
    expect(await metricOf(group.adminUrl, restarts, 'primary', 'reason="stopped"')).toBe(1);
    await complete(group);
  });

  it('continues after SIGHUP to the primary and to each worker, although there is no certificate to reload', async () => {
    const workers = childrenOf(group.pid);
    for (const pid of [group.pid, ...workers]) process.kill(pid, 'SIGHUP');
    await answeredBy(client);
    expect(childrenOf(group.pid)).toEqual(workers);
  });

  it('replaces and logs a worker that crashes, while the other one serves', async () => {
    const [killed = 0] = childrenOf(group.pid);
    process.kill(killed, 'SIGKILL');
    await eventually(async () => {
      const restarts = 'gateway_worker_restarts_total';
      expect(await metricOf(group.adminUrl, restarts, 'primary', 'reason="crashed"')).toBe(1);
    });
    const headers = { connection: 'close' };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => client.proxy('orders', { headers })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    await complete(group);
    const line = group.logs(2000).find((one) => one.includes('worker crashed; restarting')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({
      severity_text: 'ERROR',
      'gateway.worker_pid': killed,
      'gateway.how': 'SIGKILL',
      'gateway.restart_in_ms': expect.any(Number),
    });
  });

  it(
    'kills and replaces a worker that hangs; the one connection that was assigned to it is closed',
    async () => {
      const hanging = await startGroup(gateway, {
        name: 'hanging',
        env: { WORKER_HANG_TIMEOUT_MS: '5000' },
      });
      const [, hung = 0] = childrenOf(hanging.pid);
      process.kill(hung, 'SIGSTOP');
      const [port = 0] = hanging.ports;
      const callers = Array.from({ length: 6 }, () => callOnce(port, client.token));
      // The connection that was assigned to it gets no response, but is closed.
      const answers = (await Promise.all(callers)).toSorted();
      expect(answers).toEqual(['', ...Array<string>(5).fill('HTTP/1.1 200')]);
      await eventually(
        async () => {
          const restarts = 'gateway_worker_restarts_total';
          expect(await metricOf(hanging.adminUrl, restarts, 'primary', 'reason="hung"')).toBe(1);
        },
        { deadlineMs: restartMs },
      );
      await complete(hanging);
      expect(childrenOf(hanging.pid)).not.toContain(hung);
      const line =
        hanging.logs(2000).find((one) => one.includes('worker killed: event loop blocked')) ?? '{}';
      expect(JSON.parse(line)).toMatchObject({
        severity_text: 'ERROR',
        'gateway.worker_pid': hung,
      });
      expect(await hanging.stop()).toEqual({ code: 0, signal: null });
    },
    testTimeoutMs,
  );

  it(
    'assigns connections again to a worker that temporarily had no free file descriptors',
    async () => {
      const short = await startGroup(gateway, {
        name: 'short-of-files',
        launcher: ['sh', '-c', 'ulimit -n 120; exec "$@"', 'sh'],
      });
      const busy = gateway.admin.at(short.baseUrl);
      const pids = childrenOf(short.pid);
      const over = new AbortController();
      // Each needs a file descriptor of its worker for the caller, and one for the upstream.
      const rush = Array.from({ length: 160 }, async () => {
        const headers = { connection: 'close' };
        while (!over.signal.aborted) await busy.proxy('long', { headers }).catch(() => undefined);
      });
      const name = 'gateway_connections_unassigned_total';
      await eventually(
        async () => {
          const full = await metricOf(short.adminUrl, name, 'primary', 'reason="no_open_files"');
          expect(full).toBeGreaterThan(0);
        },
        { deadlineMs: restartMs },
      );
      over.abort();
      await Promise.all(rush);
      expect(childrenOf(short.pid)).toEqual(pids);
      const both = new Set(['short-of-files.1', 'short-of-files.2']);
      expect(new Set(await answeredBy(busy))).toEqual(both);
      await short.stop();
    },
    testTimeoutMs,
  );

  it('lets its workers finish their requests and exit if the primary is killed', async () => {
    const workers = childrenOf(group.pid);
    const long = client.proxy('long');
    await eventually(() => {
      expect(gateway.upstream.seen.at(-1)?.url).toBe('/slow/1500');
    });
    await group.stop('SIGKILL');
    expect((await long).status).toBe(200);
    await eventually(() => expect(workers.filter(isRunning)).toEqual([]), {
      deadlineMs: restartMs,
    });
  });
});
