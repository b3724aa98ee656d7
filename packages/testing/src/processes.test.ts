import { createClient } from '@gateway/client';
import { eventually } from '@gateway/shared/test/eventually';
import { describe, expect, it } from '@jest/globals';
import { isRunning } from '@gateway/local-stack/process/foreign-process';
import { createPlaneStack } from './processes.ts';

describe('createPlaneStack', () => {
  it('starts planes that become ready, and stops all of them', async () => {
    const stack = await createPlaneStack();
    const pids = [stack.nats.pid];
    try {
      const controlPlane = await stack.startControlPlane();
      const dataPlane = await stack.startDataPlane();
      pids.push(controlPlane.pid, dataPlane.pid);
      const client = createClient({ baseUrl: dataPlane.baseUrl, token: stack.adminToken });
      const { status, body } = await client.get('/v1/services');
      expect([status, body.data]).toEqual([200, []]);
      expect((await fetch(`${dataPlane.adminUrl}/metrics`)).status).toBe(200);

      await stack.nats.stop();
      await stack.restartNats();
      pids.push(stack.nats.pid);
      await eventually(async () => {
        const ready = await fetch(`${controlPlane.adminUrl}/readyz`);
        expect(await ready.json()).toMatchObject({ status: 'ready' });
      });
    } finally {
      await stack.close();
    }
    expect(pids.filter(isRunning)).toEqual([]);
  }, 120_000);

  it('reports why a plane did not start', async () => {
    const stack = await createPlaneStack();
    try {
      await expect(stack.startControlPlane({ env: { LOG_LEVEL: 'loud' } })).rejects.toThrow(
        /control-plane-1 ended during its start: .*LOG_LEVEL/,
      );
    } finally {
      await stack.close();
    }
  }, 60_000);
});
