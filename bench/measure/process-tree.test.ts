import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '@gateway/shared/test/eventually';
import { describe, expect, it } from '@jest/globals';
import { usageOf } from './process-tree.ts';

const BURN = 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done';

describe('usageOf', () => {
  it('counts children while they run and after they ended', async () => {
    const root = spawn('/bin/sh', ['-c', `/bin/sh -c '${BURN}'; echo over; exec sleep 60`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const pid = root.pid ?? 0;
    try {
      const whileItRan = await eventually(() => {
        const { cpuUs, residentBytes } = usageOf(pid);
        expect(cpuUs).toBeGreaterThan(0);
        expect(residentBytes).toBeGreaterThan(100_000);
        return cpuUs;
      });
      await once(root.stdout, 'data');
      expect(usageOf(pid).cpuUs).toBeGreaterThanOrEqual(whileItRan);
      expect(usageOf(pid).cpuUs).toBeGreaterThanOrEqual(30_000);
    } finally {
      root.kill('SIGKILL');
    }
  });
});
