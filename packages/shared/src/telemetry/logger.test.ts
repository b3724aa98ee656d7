import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Logs, waits until that failed if it is to fail, and says on standard error what it counted. */
const program = `
import { setTimeout as wait } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { openLog } from '${new URL('logger.ts', import.meta.url).href}';
const { log, observe } = openLog({ service: 'test', instance: 'one' }, 'info');
const registry = new Registry();
observe(registry);
const count = async () =>
  Number(/_failures_total (\\d+)/.exec(await registry.metrics())[1]);
log.info({ request_id: 'req_1', reason: 'busy', pool: 2 }, 'a line');
while (process.argv[1] === 'full' && (await count()) === 0) await wait(10);
log.flush();
process.stderr.write(await registry.metrics());
`;

/** Runs the script with its log in a file, optionally with a file size limit of 0, like on a full disk. */
async function run(disk: 'roomy' | 'full') {
  const folder = mkdtempSync(path.join(tmpdir(), 'gateway-log-'));
  folders.push(folder);
  const file = path.join(folder, 'log');
  const log = openSync(file, 'a');
  const node = [process.execPath, '--input-type=module', '-e', program, disk];
  const limit = disk === 'full' ? 'ulimit -f 0; exec "$@"' : 'exec "$@"';
  const child = spawn('/bin/sh', ['-c', limit, 'sh', ...node], {
    cwd: import.meta.dirname,
    stdio: ['ignore', log, 'pipe'],
    timeout: 20_000,
  });
  closeSync(log);
  const metrics = child.stderr === null ? '' : await text(child.stderr);
  if (child.exitCode === null) await once(child, 'exit');
  return { code: child.exitCode, metrics, log: readFileSync(file, 'utf8') };
}

describe('the log of a process', () => {
  it('is written as JSON lines', async () => {
    const { code, metrics, log } = await run('roomy');
    expect([code, JSON.parse(log)]).toEqual([
      0,
      {
        severity_text: 'INFO',
        severity_number: 9,
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        'service.name': 'test',
        'service.instance.id': 'one',
        'process.pid': expect.any(Number),
        'gateway.request.id': 'req_1',
        'error.message': 'busy',
        'gateway.pool': 2,
        body: 'a line',
      },
    ]);
    expect(metrics).toContain('gateway_log_write_failures_total 0');
  });

  it('does not end the process if it cannot be written, and counts that', async () => {
    const { code, metrics, log } = await run('full');
    expect([code, log]).toEqual([0, '']);
    expect(metrics).toMatch(/gateway_log_write_failures_total [1-9]/);
  });
});
