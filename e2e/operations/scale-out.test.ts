import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '@gateway/shared/test/eventually';
import { copyNewCluster } from '@gateway/testing/new-cluster';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createClient, type Client } from '../harness/client.ts';
import { childrenOf } from './workers/group.ts';
import { noProcessOf, runStack, stackPorts, type StackRun } from './stack-run.ts';

const testTimeoutMs = 120_000;
const LIMIT = 40;

interface Entry {
  readonly name: string;
  readonly pid: number;
  readonly ports: readonly number[];
}

describe('npm start at a larger scale', () => {
  let dataDir: string;
  let ports: Record<string, string>;
  let run: StackRun | undefined;

  beforeEach(async () => {
    dataDir = await realpath(await mkdtemp(path.join(tmpdir(), 'gateway-e2e-scale-')));
    ports = await stackPorts();
  });
  afterEach(async () => {
    run?.child.kill('SIGTERM');
    await run?.ended();
    await rm(dataDir, { recursive: true, force: true });
  });

  async function start(env: Record<string, string>): Promise<StackRun> {
    copyNewCluster(path.join(dataDir, 'postgres'));
    run = runStack({ ...ports, GATEWAY_DATA_DIR: dataDir, ...env });
    await run.serving();
    return run;
  }
  const tokenOf = (one: StackRun): string => /gwt_[\w-]{43}/.exec(one.stdout())?.[0] ?? '';
  const entries = async (): Promise<Entry[]> =>
    JSON.parse(await readFile(path.join(dataDir, 'processes.json'), 'utf8')) as Entry[];

  /** Creates a route to the demo upstream, and waits until all data planes serve it. */
  async function makeRoute(clients: readonly Client[], fields: object): Promise<void> {
    const [first] = clients;
    if (first === undefined) throw new Error('there is no data plane');
    const services = (await first.get('/v1/services')).page().data;
    await first.create('/v1/routes', { service_id: services[0]?.id, ...fields });
    for (const client of clients) {
      await eventually(async () => {
        const { name } = fields as { name: string };
        const { status } = await client.proxy(name, { method: 'DELETE' });
        expect(status).toBe(405);
      });
    }
  }

  it(
    'starts four data planes and prints their addresses; they enforce a quota and a key together',
    async () => {
      const started = await start({ DATA_PLANES: '4' });
      expect(started.stdout()).toContain('The gateway is ready with 4 data planes.');
      const base = Number(ports['GATEWAY_PORT']);
      const admin = Number(ports['DATA_PLANE_ADMIN_PORT']);
      const planes = (await entries()).filter(({ name }) => name.startsWith('data-plane'));
      expect(planes.map(({ name, ports: own }) => [name, ...own])).toEqual(
        [0, 1, 2, 3].map((n) => [`data-plane-${n + 1}`, base + 10 * n, admin + 10 * n]),
      );
      const urls = planes.map(({ ports: [port = 0] }) => `http://127.0.0.1:${port}`);
      for (const url of urls) expect(started.stdout()).toContain(` ${url}\n`);
      const clients = urls.map((url) => createClient(url, tokenOf(started)));

      await makeRoute(clients, {
        name: 'few',
        methods: ['GET'],
        rate_limit: { limit: LIMIT, window_seconds: 86_400 },
      });
      const offered = clients.flatMap((client) =>
        Array.from({ length: LIMIT }, () => client.proxy('few', { method: 'GET' })),
      );
      const statuses = (await Promise.all(offered)).map(({ status }) => status);
      const accepted = statuses.filter((status) => status === 200).length;
      expect(accepted).toBeLessThanOrEqual(LIMIT);
      // A data plane without further requests does not return the rest of its lease at once.
      expect(accepted).toBeGreaterThanOrEqual(LIMIT - clients.length);
      expect(new Set(statuses)).toEqual(new Set([200, 429]));

      const headers = { 'idempotency-key': randomUUID() };
      const twins = clients.map((client) => client.proxy('echo/delay/200', { headers }));
      const answers = await Promise.all(twins);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
      const replayed = answers.filter((one) => one.headers.get('idempotent-replayed') === 'true');
      expect(replayed).toHaveLength(3);
    },
    testTimeoutMs,
  );

  it(
    'starts a data plane with two workers, and stops both of them',
    async () => {
      const started = await start({ WORKERS: '2' });
      expect(started.stdout()).toContain('The gateway is ready with one data plane of 2 workers.');
      const plane = (await entries()).find(({ name }) => name === 'data-plane-1');
      await eventually(() => expect(childrenOf(plane?.pid ?? 0)).toHaveLength(2));
      const client = createClient(started.baseUrl, tokenOf(started));
      expect((await client.proxy('echo')).status).toBe(200);
      started.pressCtrlC();
      expect(await started.ended()).toBe(0);
      await noProcessOf(dataDir);
    },
    testTimeoutMs,
  );

  it('reports an invalid number of workers in one line', async () => {
    run = runStack({ ...ports, GATEWAY_DATA_DIR: dataDir, WORKERS: 'all' });
    expect(await run.ended()).toBe(1);
    expect(run.stderr()).toBe('gateway: WORKERS: must be a whole number from 1 to 64\n');
  });
});
