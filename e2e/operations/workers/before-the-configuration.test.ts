import { createPlaneStack, type PlaneStack } from '@gateway/testing/processes';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { complete, restartMs, type Group } from './start-group.ts';

const testTimeoutMs = 60_000;
const MISSING = 'the configuration is not completely loaded';

const readinessSchema = z.object({ status: z.string(), reasons: z.array(z.string()) });

/** Resolves when the second worker has opened its data path, and nothing but the configuration is missing. */
async function secondWaits({ adminUrl }: Group): Promise<void> {
  await eventually(
    async () => {
      const response = await fetch(`${adminUrl}/readyz`);
      const { status, reasons } = readinessSchema.parse(await response.json());
      const ofTheSecond = reasons.filter((reason) => reason.startsWith('worker 2: '));
      expect([status, ...ofTheSecond]).toEqual([
        'not_ready',
        `worker 2: ${MISSING}`,
        'worker 2: not connected to NATS: the configuration may be old',
      ]);
      expect(reasons).toContain(`worker 1: ${MISSING}`);
      expect(reasons).toContain('1 of 2 workers do not serve');
    },
    { deadlineMs: restartMs },
  );
}

describe('a group of two workers before there is a configuration', () => {
  let stack: PlaneStack;
  beforeAll(async () => {
    stack = await createPlaneStack();
  }, testTimeoutMs);
  afterAll(() => stack.close());

  it(
    'gives connections to the first worker only until it arrives, and none to a worker that was stopped meanwhile',
    async () => {
      const [group, stopped] = await Promise.all([
        stack.startDataPlane({ env: { WORKERS: '2' }, waitForReady: false }),
        // Its grace lasts longer than a start of the control plane.
        stack.startDataPlane({
          env: { WORKERS: '2', DRAIN_GRACE_MS: '8000' },
          waitForReady: false,
        }),
      ]);
      await Promise.all([secondWaits(group), secondWaits(stopped)]);
      const exit = stopped.stop();
      await stack.startControlPlane();
      await complete(group);
      expect(await exit).toEqual({ code: 0, signal: null });
      // The configuration came while it drained, and gave it no connections.
      const ready = stopped.logs(2000).filter((line) => line.includes('"body":"ready"'));
      expect(ready).toHaveLength(1);
    },
    testTimeoutMs,
  );
});
