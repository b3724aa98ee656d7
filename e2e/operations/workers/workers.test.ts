import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { eventually } from '@gateway/shared/test/eventually';
import { writeCertificateFiles } from '@gateway/shared/test/served-certificate';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '../../harness/client.ts';
import { startGateway, type Gateway } from '../../harness/gateway.ts';
import { startLoad } from '../../harness/load.ts';
import { burst } from '../../harness/burst.ts';
import { startSoakUpstreams } from '../../soak/upstreams.ts';
import { callOnce } from './call-once.ts';
import { childrenOf, isRunning, metricOf } from './group.ts';
import { echo, getByHttp2, shownNames } from './secure.ts';

const testTimeoutMs = 60_000;
const restartMs = 20_000;
const WORKERS = 2;

type Group = Awaited<ReturnType<Gateway['stack']['startDataPlane']>>;

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
    group = await start('group');
    client = gateway.admin.at(group.baseUrl);
  }, testTimeoutMs);
  afterAll(() => gateway.close());

  async function start(
    name: string,
    env: Record<string, string> = {},
    launcher: readonly string[] = [],
  ): Promise<Group> {
    const started = await gateway.stack.startDataPlane({
      name,
      launcher,
      env: { WORKERS: String(WORKERS), DRAIN_GRACE_MS: '200', ...env },
    });
    await whole(started);
    return started;
  }

  /** Resolves when all workers are ready and each counts the others as live. */
  async function whole(started: Group): Promise<void> {
    await eventually(
      async () => {
        const response = await fetch(`${started.adminUrl}/readyz`);
        expect(await response.json()).toEqual({ status: 'ready', reasons: [] });
        for (const worker of ['1', '2']) {
          const live = await metricOf(started.adminUrl, 'gateway_live_data_planes', worker);
          expect(live).toBeGreaterThanOrEqual(WORKERS);
        }
      },
      { deadlineMs: restartMs },
    );
  }

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
  const load = (target: Group, path: string, ended: () => boolean = () => false) =>
    startLoad({
      url: `${target.baseUrl}/v1/proxy/${path}`,
      token: client.token,
      callers: 8,
      maxCalls: 5000,
      body: () => ({}),
      ended,
    });

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
    const calls = load(group, 'slow', () => over);
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
    expect(await metricOf(group.adminUrl, restarts, 'primary', 'why="stopped"')).toBe(1);
    await whole(group);
  });

  it('replaces and logs a worker that crashes, while the other one serves', async () => {
    const [killed = 0] = childrenOf(group.pid);
    process.kill(killed, 'SIGKILL');
    await eventually(async () => {
      const restarts = 'gateway_worker_restarts_total';
      expect(await metricOf(group.adminUrl, restarts, 'primary', 'why="crashed"')).toBe(1);
    });
    const headers = { connection: 'close' };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => client.proxy('orders', { headers })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    await whole(group);
    const line = group.logs(2000).find((one) => one.includes('worker crashed; restarting')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({
      level: 'error',
      worker_pid: killed,
      how: 'SIGKILL',
      restart_in_ms: expect.any(Number),
    });
  });

  it(
    'kills and replaces a worker that hangs; the one connection that was assigned to it is closed',
    async () => {
      const hanging = await start('hanging', { WORKER_HANG_TIMEOUT_MS: '5000' });
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
          expect(await metricOf(hanging.adminUrl, restarts, 'primary', 'why="hung"')).toBe(1);
        },
        { deadlineMs: restartMs },
      );
      await whole(hanging);
      expect(childrenOf(hanging.pid)).not.toContain(hung);
      const line =
        hanging.logs(2000).find((one) => one.includes('worker killed: event loop blocked')) ?? '{}';
      expect(JSON.parse(line)).toMatchObject({ level: 'error', worker_pid: hung });
      expect(await hanging.stop()).toEqual({ code: 0, signal: null });
    },
    testTimeoutMs,
  );

  it(
    'assigns connections again to a worker that temporarily had no free file descriptors',
    async () => {
      const short = await start('short-of-files', {}, [
        'sh',
        '-c',
        'ulimit -n 120; exec "$@"',
        'sh',
      ]);
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
          const full = await metricOf(short.adminUrl, name, 'primary', 'why="no_open_files"');
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

  it('drains both workers after SIGTERM: every response is complete, the exit code is 0, and a start with one worker sends every record', async () => {
    const name = 'spooling';
    const stopped = await start(name);
    await gateway.stack.nats.stop();
    const forwarded = () => gateway.upstream.seen.filter(({ url }) => url === '/slow/100').length;
    const before = forwarded();
    const calls = load(stopped, 'slow');
    const long = gateway.admin.at(stopped.baseUrl).proxy('long');
    await eventually(() => expect(calls.answers.length).toBeGreaterThan(20));
    const workers = childrenOf(stopped.pid);
    expect(await stopped.stop()).toEqual({ code: 0, signal: null });
    await calls.ended;
    expect((await long).status).toBe(200);
    expect(new Set(calls.answers.map(({ status }) => status))).toEqual(new Set([200]));
    // Every forwarded request was answered. A connection that is opened while the port closes may be reset, unread.
    expect(forwarded() - before).toBe(calls.answers.length);
    expect(['ECONNREFUSED', 'ECONNRESET']).toEqual(expect.arrayContaining([...calls.failures]));
    expect(workers.filter(isRunning)).toEqual([]);

    await gateway.stack.restartNats();
    const single = await gateway.stack.startDataPlane({ name });
    for (const { requestId } of calls.answers) {
      await eventually(
        async () => expect((await client.get(`/v1/requests/${requestId}`)).status).toBe(200),
        { deadlineMs: restartMs },
      );
    }
    await single.stop();
  });

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

  it('serves TLS, HTTP/2 and WebSocket, and all workers reload the certificate after SIGHUP', async () => {
    const authority = createTestAuthority('workers');
    const files = await writeCertificateFiles(authority, ['127.0.0.1']);
    const upstreams = await startSoakUpstreams();
    try {
      const service = await gateway.service({ url: upstreams.good });
      await gateway.route({ name: 'sockets', service_id: service.id });
      const secure = await start('secure', {
        TLS_CERT_FILE: files.certFile,
        TLS_KEY_FILE: files.keyFile,
        TLS_RELOAD_INTERVAL_MS: '86400000',
      });
      const [port = 0] = secure.ports;
      const target = { port, ca: authority.certPem, token: client.token };
      // More than one connection to each worker.
      const five = <T>(make: () => Promise<T>) => Promise.all(Array.from({ length: 5 }, make));
      const answers = await five(() => getByHttp2(target, '/v1/proxy/sockets'));
      expect(new Set(answers)).toEqual(new Set(['200: {"ok":true}']));
      const echoed = await five(() => echo(target, '/v1/proxy/sockets', 'over a worker'));
      expect(new Set(echoed)).toEqual(new Set(['over a worker']));
      await files.write(['127.0.0.1', 'renewed.test']);
      process.kill(secure.pid, 'SIGHUP');
      await eventually(async () => {
        for (const names of await five(() => shownNames(target))) {
          expect(names).toContain('renewed.test');
        }
      });
      expect(await secure.stop()).toEqual({ code: 0, signal: null });
    } finally {
      await upstreams.close();
      await files.remove();
    }
  });

  it('fails to start if its port is in use, and names the port', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    try {
      const failed = await gateway.stack.startDataPlane({
        env: { WORKERS: '2' },
        // Overrides the free port that the stack has picked.
        launcher: ['env', `GATEWAY_PORT=${port}`],
        waitForReady: false,
      });
      expect(await failed.exited).toEqual({ code: 1, signal: null });
      const fatal = failed.logs().filter((line) => line.startsWith('{"level":"fatal"'));
      const said = fatal.map((line) => (JSON.parse(line) as { msg: string }).msg);
      expect(new Set(said)).toEqual(
        new Set([`data plane cannot start: port ${port} is in use; set GATEWAY_PORT`]),
      );
    } finally {
      taken.close();
    }
  });
});
