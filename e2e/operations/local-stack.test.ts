import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startNats } from '@gateway/local-stack/nats/start-nats';
import { copyNewCluster } from '@gateway/testing/new-cluster';
import { createTestDatabase } from '@gateway/testing/test-database';
import { eventually } from '@gateway/shared/test/eventually';
import { runLine } from './shell-line.ts';
import { noProcessOf, runStack, stackPorts, type StackRun } from './stack-run.ts';

interface Entry {
  readonly name: string;
  readonly pid: number;
  readonly ports: number[];
}

const startTimeoutMs = 120_000;

describe('npm start', () => {
  let root: string;
  let dataDir: string;
  /** The folder of Postgres. A new cluster in it is what the first start would make. */
  let postgres: string;
  let ports: Record<string, string>;
  const runs: StackRun[] = [];

  const start = (env: Record<string, string> = {}): StackRun => {
    const run = runStack({ ...ports, GATEWAY_DATA_DIR: dataDir, ...env });
    runs.push(run);
    return run;
  };
  const processes = async (): Promise<Entry[]> =>
    JSON.parse(await readFile(path.join(dataDir, 'processes.json'), 'utf8')) as Entry[];
  const tokenOf = (run: StackRun): string => /gwt_[\w-]{43}/.exec(run.stdout())?.[0] ?? '';
  const curlLines = (run: StackRun): string[] => run.stdout().match(/^curl .*$/gm) ?? [];

  beforeEach(async () => {
    root = await realpath(await mkdtemp(path.join(tmpdir(), 'gateway-e2e-stack-')));
    dataDir = path.join(root, 'data');
    postgres = path.join(dataDir, 'postgres');
    ports = await stackPorts();
  });
  afterEach(async () => {
    for (const run of runs.splice(0)) {
      run.child.kill('SIGTERM');
      await run.ended();
    }
    await rm(root, { recursive: true, force: true });
  });

  it(
    'prints commands that work, keeps its data for a second start, and leaves no process after Ctrl-C and SIGTERM',
    async () => {
      const first = start();
      await first.serving();
      const [proxied = '', listed = '', ...more] = curlLines(first);
      expect(more).toEqual([]);
      expect(first.stdout()).toContain(`Base URL       ${first.baseUrl}`);
      const [page = ''] = /\S+\/console$/m.exec(first.stdout()) ?? [];
      // Built after the banner.
      await eventually(
        async () => {
          const consolePage = await (await fetch(page)).text();
          const [, script = ''] = /src="(\/console\/assets\/[^"]+)"/.exec(consolePage) ?? [];
          expect((await fetch(new URL(script, page))).status).toBe(200);
          const reference = await fetch(`${first.baseUrl}/docs`);
          expect(await reference.text()).toContain('<title>API reference · Gateway</title>');
        },
        { deadlineMs: 60_000 },
      );
      expect(await runLine(proxied)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(
          /^HTTP\/1.1 200[\s\S]*x-request-id: [\s\S]*"hello":"gateway"/i,
        ),
      });
      const list = await runLine(listed);
      expect(JSON.parse(list.stdout)).toMatchObject({
        data: [{ name: 'echo', environment: 'production' }],
      });

      first.pressCtrlC();
      expect(await first.ended()).toBe(0);
      await noProcessOf(dataDir);
      expect(await processes()).toEqual([]);

      const second = start();
      await second.serving();
      // The slow steps of the first start are not repeated.
      const makes = /Creating the Postgres data folder|Installing packages|Downloading/;
      expect(first.stdout() + first.stderr()).toMatch(makes);
      expect(second.stdout() + second.stderr()).not.toMatch(makes);
      expect(tokenOf(second)).toBe(tokenOf(first));
      const again = await runLine(listed);
      const ids = (text: string): unknown =>
        (JSON.parse(text) as { data: { id: string }[] }).data.map(({ id }) => id);
      expect(ids(again.stdout)).toEqual(ids(list.stdout));
      expect((await runLine(proxied)).stdout).toMatch(/^HTTP\/1.1 200/);

      second.child.kill('SIGTERM');
      expect(await second.ended()).toBe(0);
      await noProcessOf(dataDir);
    },
    startTimeoutMs,
  );

  it(
    'lists its processes, keeps running if one is stopped by hand, and can be started again after SIGKILL',
    async () => {
      copyNewCluster(postgres);
      const run = start({ DATA_PLANES: '2' });
      await run.serving();
      const listed = await processes();
      expect(listed.map(({ name }) => name).sort()).toEqual([
        'control-plane',
        'data-plane-1',
        'data-plane-2',
        'demo-upstream',
        'nats',
        'postgres',
      ]);
      const firstPort = Number(ports['GATEWAY_PORT']);
      const adminPort = Number(ports['DATA_PLANE_ADMIN_PORT']);
      const second = listed.find(({ name }) => name === 'data-plane-2');
      expect(second?.ports).toEqual([firstPort + 10, adminPort + 10]);

      const controlPlane = listed.find(({ name }) => name === 'control-plane');
      process.kill(controlPlane?.pid ?? 0, 'SIGTERM');
      await eventually(async () => {
        expect((await processes()).map(({ name }) => name)).not.toContain('control-plane');
      });
      expect(run.stdout()).toMatch(
        /control-plane \(pid \d+\) has stopped: .*; the other processes keep running/,
      );
      expect((await runLine(curlLines(run)[0] ?? '')).stdout).toMatch(/^HTTP\/1.1 200/);

      // Kills the stack itself, not the bootstrap, so that nothing stops the processes that it started.
      const [stackPid = '0'] = (await readFile(path.join(dataDir, 'stack.pid'), 'utf8')).split(' ');
      process.kill(Number(stackPid), 'SIGKILL');
      await run.ended();
      const again = start({ DATA_PLANES: '2' });
      await again.serving();
      expect((await runLine(curlLines(again)[0] ?? '')).stdout).toMatch(/^HTTP\/1.1 200/);
      again.pressCtrlC();
      expect(await again.ended()).toBe(0);
      // A build of pages that the killed stack had begun ends by itself.
      await noProcessOf(dataDir, 60_000);
    },
    startTimeoutMs,
  );

  it(
    'uses an existing Postgres and an existing NATS',
    async () => {
      const database = await createTestDatabase('partitions');
      const nats = await startNats({ dataDir: path.join(root, 'nats'), log: () => undefined });
      const run = start({ DATABASE_URL: database.url, NATS_URL: nats.url });
      await run.serving();
      const names = (await processes()).map(({ name }) => name).sort();
      expect(names).toEqual(['control-plane', 'data-plane-1', 'demo-upstream']);
      expect((await runLine(curlLines(run)[0] ?? '')).stdout).toMatch(/^HTTP\/1.1 200/);
      run.child.kill('SIGTERM');
      expect(await run.ended()).toBe(0);
      await nats.stop();
      await database.drop();
    },
    startTimeoutMs,
  );

  it(
    'can be interrupted by Ctrl-C during its start, and leaves no process',
    async () => {
      copyNewCluster(postgres);
      const run = start();
      await eventually(() => expect(run.stdout()).toContain('Starting the control plane'), {
        deadlineMs: 60_000,
      });
      run.pressCtrlC();
      expect(await run.ended()).toBe(0);
      await noProcessOf(dataDir);
    },
    startTimeoutMs,
  );

  it('reports in one line that a port is in use, and leaves no process', async () => {
    const server = createServer().listen(Number(ports['GATEWAY_PORT']), '127.0.0.1');
    await once(server, 'listening');
    try {
      const run = start();
      expect(await run.ended()).toBe(1);
      expect(run.stderr()).toMatch(/^gateway: port \d+ for data-plane-1 [^\n]*GATEWAY_PORT\n$/);
      await noProcessOf(dataDir);
    } finally {
      server.close();
    }
  });

  it('reports in one line that the data folder is a file', async () => {
    await writeFile(dataDir, 'a file');
    const run = start();
    expect(await run.ended()).toBe(1);
    expect(run.stderr()).toMatch(
      /^gateway: the data folder [^\n]* parent folder is a file[^\n]*\n$/,
    );
    await noProcessOf(dataDir);
  });

  it(
    'reports in one line that the Postgres data is damaged, and leaves no process',
    async () => {
      copyNewCluster(postgres);
      await rm(path.join(postgres, 'cluster', 'global'), { recursive: true });
      const broken = start();
      expect(await broken.ended()).toBe(1);
      expect(broken.stderr()).toMatch(/^gateway: postgres ended during its start: [^\n]*\n$/);
      await noProcessOf(dataDir);
    },
    startTimeoutMs,
  );

  it('reports an invalid variable in one line', async () => {
    const run = start({ DATA_PLANES: 'many' });
    expect(await run.ended()).toBe(1);
    expect(run.stderr()).toBe('gateway: DATA_PLANES: must be a whole number from 1 to 16\n');
  });
});
