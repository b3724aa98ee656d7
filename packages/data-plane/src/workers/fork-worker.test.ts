import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { endOf } from './fork-worker.ts';

describe('the end of a worker', () => {
  it('is how its process ended, whatever became of a message to it before', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const end = endOf(child);
    await once(child, 'spawn');
    child.emit('error', new Error('write EPIPE'));
    child.kill('SIGKILL');
    expect(await end).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('is why it could not be started', async () => {
    const end = await endOf(spawn('/no/such/program'));
    expect(end).toEqual({ code: null, signal: 'spawn /no/such/program ENOENT' });
  });
});
