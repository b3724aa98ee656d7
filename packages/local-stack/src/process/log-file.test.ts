import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startProcess } from './managed-process.ts';

describe('the log of a process', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'gateway-log-'));
  });
  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  it('is readable by its owner only, and so is the log of the previous run', async () => {
    const logFile = path.join(root, 'logs', 'one.log');
    const run = async (text: string) => {
      const args = ['-e', `process.stdout.write('${text}')`];
      const spec = { name: 'one', command: process.execPath, args, env: {}, logFile };
      await (
        await startProcess(spec)
      ).exited;
    };
    await run('first');
    // A log with the mode of earlier versions.
    await chmod(logFile, 0o644);
    await run('second');
    expect(await readFile(logFile, 'utf8')).toBe('second');
    expect(await readFile(`${logFile}.1`, 'utf8')).toBe('first');
    for (const file of [logFile, `${logFile}.1`]) {
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    }
  });
});
