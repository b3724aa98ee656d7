import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startTestDataPath } from '../../../test/data-path.ts';

const opened = closeAfterEach();

const CALLERS = 4;
const CHECK_INTERVAL_MS = 60_000;

const SERVER = `
  const server = require('node:http').createServer((request, response) => {
    const delayMs = request.url.includes('slow') ? 60_000 : 0;
    setTimeout(() => response.end('ok'), delayMs);
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

/** An upstream in a process of its own, which can be stopped with SIGSTOP. */
async function startProcess() {
  const child = spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  return opened({
    url: `http://127.0.0.1:${Number(String(port))}`,
    signal: (name: 'SIGSTOP' | 'SIGCONT') => child.kill(name),
    async close() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  });
}

interface HealthLine {
  readonly msg: string;
  readonly to: string;
  readonly reason: string;
}

async function startWorld(upstreams: readonly string[]) {
  const route = { upstreams, retry_count: 0, timeout_ms: 1000 };
  const gateway = opened(await startTestDataPath(route, { healthChecks: true }));
  const snapshot = testSnapshot(route, gateway.token);
  await gateway.use({
    ...snapshot,
    version: 2,
    services: snapshot.services.map((service) => ({
      ...service,
      health_check: { ...service.health_check, interval_ms: CHECK_INTERVAL_MS, timeout_ms: 2000 },
    })),
  });
  const healthy = async (count: number) =>
    eventually(async () =>
      expect(await gateway.registry.metrics()).toContain(
        `gateway_upstreams{health="healthy"} ${count}`,
      ),
    );
  await healthy(upstreams.length);
  const changes = () =>
    gateway.logLines
      .map((line) => JSON.parse(line) as HealthLine)
      .filter(({ msg }) => msg === 'upstream health changed');
  return { gateway, healthy, changes };
}

describe('an upstream that hangs', () => {
  it.each([
    ['alone', 1],
    ['one of two', 2],
  ])('and is %s is found by checks, long before the next regular one', async (_name, count) => {
    const processes = await Promise.all(Array.from({ length: count }, startProcess));
    const { gateway, changes } = await startWorld(processes.map(({ url }) => url));
    let over = false;
    const callers = Array.from({ length: CALLERS }, async () => {
      while (!over) await gateway.call('test');
    });
    processes[0]?.signal('SIGSTOP');
    const found = () => changes().find(({ to }) => to === 'unhealthy');
    // How soon exactly is tested with a manual clock (hang-confirmation.test.ts): the checks take longer if the good ones
    // before took long.
    await eventually(() => expect(found()).toBeDefined(), { deadlineMs: CHECK_INTERVAL_MS / 2 });
    over = true;
    await Promise.all(callers);
    expect(found()?.reason).toBe('checks_failed');
    expect(gateway.records.some(({ status }) => status === 504)).toBe(true);
  });

  it('is not suspected for long because of one slow path', async () => {
    const only = await startProcess();
    const { gateway, changes } = await startWorld([only.url]);
    const slow = gateway.call('test/slow');
    for (let calls = 0; calls < 50; calls += 1) {
      expect((await gateway.call('test')).status).toBe(200);
    }
    expect((await slow).status).toBe(504);
    // Time for many short checks, if good responses did not end them.
    for (const endMs = Date.now() + 2000; Date.now() < endMs;) await gateway.call('test');
    const fewChecks = /gateway_upstream_checks_total\{result="good"\} [1-3]$/m;
    expect(await gateway.registry.metrics()).toMatch(fewChecks);
    expect(changes().map(({ to }) => to)).toEqual(['healthy']);
  });
});
