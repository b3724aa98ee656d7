import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '@gateway/shared/test/eventually';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isRunning } from '../process/foreign-process.ts';
import { startProcess, type ManagedProcess } from '../process/managed-process.ts';
import { stopLeftovers } from './leftovers.ts';
import { readProcesses, writeProcesses } from './processes-file.ts';
import { createSupervisor } from './supervisor.ts';

describe('the processes of a stack', () => {
  let dataDir: string;
  let lines: string[];
  const log = (line: string): void => void lines.push(line);

  const start = (name: string, script: string): Promise<ManagedProcess> =>
    startProcess({
      name,
      command: '/bin/sh',
      args: ['-c', script],
      env: { PATH: process.env['PATH'], GATEWAY_DATA_DIR: dataDir },
      logFile: path.join(dataDir, 'logs', `${name}.log`),
      stopTimeoutMs: 300,
    });

  beforeEach(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'gateway-stack-'));
    lines = [];
  });
  afterEach(async () => {
    await rm(dataDir, { recursive: true, force: true });
  });

  it('are listed while they run; one that is stopped by hand stays stopped', async () => {
    const supervisor = createSupervisor(dataDir, log);
    const one = await start('one', 'exec sleep 60');
    const two = await start('two', 'exec sleep 60');
    await supervisor.add(one, [1, 2]);
    await supervisor.add(two, []);
    expect(await readProcesses(dataDir)).toEqual([
      { name: 'one', pid: one.pid, ports: [1, 2] },
      { name: 'two', pid: two.pid, ports: [] },
    ]);
    process.kill(one.pid, 'SIGKILL');
    await eventually(async () => {
      expect(await readProcesses(dataDir)).toEqual([{ name: 'two', pid: two.pid, ports: [] }]);
    });
    expect(lines).toEqual([
      `one (pid ${one.pid}) has stopped: SIGKILL; the other processes keep running`,
    ]);
    await supervisor.stop();
    expect(await two.exited).toEqual({ code: null, signal: 'SIGTERM' });
    expect(await readProcesses(dataDir)).toEqual([]);
  });

  it('are stopped last started first, with SIGKILL for one that ignores signals', async () => {
    const supervisor = createSupervisor(dataDir, log);
    const deaf = await start('deaf', "trap '' TERM INT; echo deaf; while :; do sleep 0.05; done");
    await eventually(() => expect(deaf.logs()).toEqual(['deaf']));
    await supervisor.add(deaf, []);
    await supervisor.add(await start('newer', 'exec sleep 60'), []);
    await supervisor.stop();
    expect(lines).toEqual(['Stopping newer ...', 'Stopping deaf ...']);
    expect(await deaf.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('left by a killed stack are stopped; an unrelated process with such a pid is not', async () => {
    const left = await start('left', 'exec sleep 60');
    const stranger = spawn('sleep', ['60']);
    try {
      await writeProcesses(dataDir, [
        { name: 'stranger', pid: stranger.pid ?? 0, ports: [] },
        { name: 'left', pid: left.pid, ports: [] },
      ]);
      await stopLeftovers(dataDir, log);
      expect(isRunning(left.pid)).toBe(false);
      expect(isRunning(stranger.pid ?? 0)).toBe(true);
      expect(lines).toEqual([expect.stringContaining(`Stopping left (pid ${left.pid})`)]);
      expect(await readFile(path.join(dataDir, 'processes.json'), 'utf8')).toBe('[]\n');
    } finally {
      stranger.kill();
      await once(stranger, 'exit');
    }
  });

  it('are none if the file is malformed', async () => {
    for (const text of ['', '{', '{}', '[1,{"name":"a"}]']) {
      await writeFile(path.join(dataDir, 'processes.json'), text);
      expect(await readProcesses(dataDir)).toEqual([]);
    }
  });

  it('end if the process that started them is killed', async () => {
    const script = `
      import { startProcess } from ${JSON.stringify(new URL('../process/managed-process.ts', import.meta.url).href)};
      const child = await startProcess({ name: 'child', command: 'sleep', args: ['60'],
        env: process.env, logFile: ${JSON.stringify(path.join(dataDir, 'child.log'))} });
      process.stdout.write(String(child.pid) + '\\n');
      setInterval(() => undefined, 1000);`;
    const starter = spawn(process.execPath, ['--input-type=module', '-e', script]);
    const [pid] = (await once(starter.stdout, 'data')) as [Buffer];
    expect(isRunning(Number(pid))).toBe(true);
    starter.kill('SIGKILL');
    await eventually(() => expect(isRunning(Number(pid))).toBe(false));
  });
});
